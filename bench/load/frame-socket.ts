import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

// A WebSocket client that does as little as can be: frames are cut out of the stream and handed on as bytes. The load must
// cost less than what it measures. It masks with zeros, so that frames can be made beforehand; servers cannot tell.

export type FrameSocket = {
  send(text: string): void;
  /** Frames that are made already, by `frameOf`. */
  write(frames: Buffer): void;
  end(): void;
};

type Options = {
  url: string;
  headers?: Record<string, string>;
  onText: (payload: Buffer) => void;
  onClosed?: () => void;
};

const text = 0x81;
const [closeCode, pingCode, pong] = [0x8, 0x9, 0x8a];

export const frameOf = (payload: string | Buffer, kind = text): Buffer => {
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
  if (body.length > 0xffff) throw new Error('The load sends nothing as large as that');
  const isShort = body.length < 126;
  const head = Buffer.alloc(isShort ? 6 : 8); // the mask at its end is zero
  head[0] = kind;
  head[1] = 0x80 | (isShort ? body.length : 126);
  if (!isShort) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
};

export const openFrameSocket = async ({
  url,
  headers = {},
  onText,
  onClosed = () => undefined,
}: Options): Promise<FrameSocket> => {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('error', () => undefined); // a close follows
  await once(socket, 'connect');
  const lines = Object.entries({
    host: `${hostname}:${port}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);

  let rest: Buffer = Buffer.alloc(0);
  const read = (data: Buffer): void => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, data]) : data;
    let at = 0;
    while (bytes.length - at >= 2) {
      const short = (bytes[at + 1] ?? 0) & 0x7f;
      const headLength = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (bytes.length - at < headLength) break;
      const length =
        short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
      if (bytes.length - at < headLength + length) break;
      const payload = bytes.subarray(at + headLength, at + headLength + length);
      const code = (bytes[at] ?? 0) & 0xf;
      at += headLength + length;
      if (code === pingCode) socket.write(frameOf(payload, pong));
      else if (code === closeCode) socket.end();
      else onText(payload);
    }
    rest = bytes.subarray(at);
  };

  await new Promise<void>((resolve, reject) => {
    const onHead = (data: Buffer): void => {
      rest = Buffer.concat([rest, data]);
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onHead);
      const head = rest.subarray(0, end).toString();
      if (!head.startsWith('HTTP/1.1 101')) throw new Error(`${url} answered ${head.split('\r\n')[0]}`); // the child fails, and says so
      const first = rest.subarray(end + 4);
      rest = Buffer.alloc(0);
      socket.on('data', read);
      resolve();
      if (first.length > 0) queueMicrotask(() => read(first));
    };
    socket.on('data', onHead);
    socket.once('close', () => {
      reject(new Error(`${url} was closed`));
      onClosed();
    });
  });

  return {
    send: (payload) => void socket.write(frameOf(payload)),
    write: (frames) => void socket.write(frames),
    end: () => socket.destroy(),
  };
};
