import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

export type Frame = {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
};

export type AgentClient = Awaited<ReturnType<typeof openSocket>>;

/** An agent's socket. It keeps what it receives until somebody asks for it, so nothing is lost. */
export const openSocket = async (url: string, token?: string) => {
  const socket = new WebSocket(url, { ...(token && { headers: { authorization: `Bearer ${token}` } }) });
  const received: Frame[] = [];
  let waiting: (() => void)[] = [];
  const ring = (): void => {
    const all = waiting;
    waiting = [];
    for (const wake of all) wake();
  };
  let isClosed = false;
  let count = 0;
  socket.on('message', (data) => {
    received.push(JSON.parse(data.toString()));
    ring();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      isClosed = true;
      resolve({ code, reason: reason.toString() });
      ring();
    });
  });
  onTestFinished(async () => {
    socket.terminate();
    await closed;
  });
  await once(socket, 'open');

  /** The first frame of its kind that was not asked for yet. */
  const next = async (isIt: (frame: Frame) => boolean, what: string): Promise<Frame> => {
    for (;;) {
      const index = received.findIndex(isIt);
      const [frame] = index < 0 ? [] : received.splice(index, 1);
      if (frame) return frame;
      if (isClosed) throw new Error(`The socket was closed before ${what}: ${JSON.stringify(received)}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const sendText = (text: string): void => socket.send(text);
  const send = (frame: object): void => sendText(JSON.stringify({ jsonrpc: '2.0', ...frame }));
  const answerTo = (id: string | number | null): Promise<Frame> =>
    next((frame) => frame.id === id && frame.method === undefined, `the answer to ${id}`);

  return {
    socket,
    closed,
    received,
    send,
    sendText,
    answerTo,
    nextOf: async (method: string) => {
      const { id, params = {} } = await next((frame) => frame.method === method, method);
      return { id, params };
    },
    notify: (method: string, params: object): void => send({ method, params }),
    request: (method: string, params: object): Promise<Frame> => {
      count += 1;
      send({ id: count, method, params });
      return answerTo(count);
    },
    answer: (id: string | number | null | undefined, result: object = {}): void => send({ id, result }),
    refuse: (id: string | number | null | undefined, message: string): void =>
      send({ id, error: { code: 1, message } }),
    /** Everything that was sent before was handled, and what it caused at once was received. */
    settled: async (): Promise<void> => {
      count += 1;
      send({ id: `settled-${count}`, method: 'heartbeat' });
      await answerTo(`settled-${count}`);
    },
  };
};
