import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const flushName = Buffer.from('flush\0'); // the prepared statement, in Parse and in Bind
const sync = Buffer.from([0x53, 0, 0, 0, 4]);

/**
 * A way to PostgreSQL on which the next flush is late: its sender loses the connection while the bytes are still under way, and
 * they arrive when the sender, on a new connection, is about to repeat it.
 */
export const startDelayingProxy = async (url: string, arrived: () => Promise<unknown>) => {
  const { hostname, port } = new URL(url);
  let phase: 'passing' | 'withholding' | 'releasing' = 'passing';
  let late: { to: Socket; bytes: Buffer } | undefined;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
    upstream.on('data', (data) => client.write(data));
    upstream.on('close', () => client.destroy());
    client.on('close', () => late?.to !== upstream && upstream.end());
    let passed: Promise<unknown> = Promise.resolve(); // in order
    client.on('data', (data) => {
      passed = passed.then(() => pass(client, upstream, data));
    });
  });
  const pass = async (client: Socket, upstream: Socket, data: Buffer): Promise<void> => {
    const isLate = late?.to === upstream;
    if (phase === 'withholding' && (isLate || data.includes(flushName))) {
      late = { to: upstream, bytes: Buffer.concat([late?.bytes ?? Buffer.alloc(0), data]) };
      if (!late.bytes.subarray(-sync.length).equals(sync)) return;
      phase = 'releasing';
      client.destroy();
      return;
    }
    if (phase === 'releasing' && late && data.includes(flushName)) {
      phase = 'passing';
      late.to.write(late.bytes);
      await arrived();
    }
    upstream.write(data);
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${own}` }).href,
    delayNextFlush: () => {
      phase = 'withholding';
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
