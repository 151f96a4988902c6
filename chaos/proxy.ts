import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

// Between the instances and Postgres. Cutting here loses answers that Postgres has sent: what was committed and what was
// not looks the same from the other end. (A backend that is terminated still sends the answer to what it committed.)

export type FaultProxy = {
  port: number;
  /** Answers are swallowed for a while, then every connection breaks. Returns how many. */
  cut(swallowMs: number): Promise<number>;
  stop(): Promise<void>;
};

export const startProxy = async (upstream: { host: string; port: number }): Promise<FaultProxy> => {
  const links = new Set<{ isMute: boolean; end(): void }>();
  const server = createServer((client) => {
    const database = connect(upstream);
    const link = { isMute: false, end };
    function end() {
      client.destroy();
      database.destroy();
      links.delete(link);
    }
    links.add(link);
    for (const socket of [client, database]) socket.setNoDelay().on('error', end).on('close', end);
    pass(client, database, () => false);
    pass(database, client, () => link.isMute);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async cut(swallowMs) {
      const victims = [...links];
      for (const link of victims) link.isMute = true;
      await new Promise((resolve) => setTimeout(resolve, swallowMs));
      for (const link of victims) link.end();
      return victims.length;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const link of links) link.end();
      await closed;
    },
  };
};

const pass = (from: Socket, to: Socket, isMute: () => boolean): void => {
  from.on('data', (data) => {
    if (!isMute() && !to.write(data)) from.pause();
  });
  to.on('drain', () => from.resume());
};
