import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Answer, eventStream } from './house.ts';

// The same question over each door that GraphQL has.

export type Question = { query: string; variables?: Record<string, unknown>; operationName?: string };
type Door = (question: Question, key?: string | null) => Promise<Answer>;
type House = {
  url: string;
  ownerKey: string;
  post(body: unknown, headers: Record<string, string>, key: string | null): Promise<Response>;
};

/** Opens sockets as they are needed, one per key; `close` ends them. */
export const openDoors = (house: House) => {
  const sockets = new Map<string | null, Promise<GraphqlSocket>>();
  const http: Door = async (question, key = house.ownerKey) => {
    const response = await house.post(question, {}, key);
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream'); // also where nobody asked for it
    return JSON.parse(isStream ? (text.split('data: ')[1]?.split('\n')[0] ?? '') : text);
  };
  const sse: Door = async (question, key = house.ownerKey) => {
    for await (const { data } of eventStream(house.url, question, key)) if (data) return data;
    throw new Error('The stream ended without a word');
  };
  const socket: Door = async (question, key = house.ownerKey) => {
    const open = sockets.get(key) ?? openGraphqlSocket(house.url, key);
    sockets.set(key, open);
    return (await open).ask(question);
  };
  return {
    doors: { http, sse, socket },
    close: async () => {
      for (const open of sockets.values()) await (await open).close();
    },
  };
};

export type GraphqlSocket = Awaited<ReturnType<typeof openGraphqlSocket>>;

/** graphql-ws by hand, so that a test sees what a client library would hide. */
export const openGraphqlSocket = async (url: string, key: string | null, headers: Record<string, string> = {}) => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  const waiting = new Map<string, (frame: { type: string; payload: unknown }) => void>();
  let count = 0;
  const send = (frame: object): void => socket.send(JSON.stringify(frame));
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }));
  socket.on('error', () => undefined); // `closed` tells
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString());
    waiting.get(frame.id ?? frame.type)?.(frame);
  });
  const next = (id: string) =>
    new Promise<{ type: string; payload: unknown }>((resolve, reject) => {
      waiting.set(id, resolve);
      void closed.then(({ code, reason }) => reject(new Error(`The socket was closed: ${code} ${reason}`)));
    });
  await once(socket, 'open');
  const ready = next('connection_ack');
  send({ type: 'connection_init', ...(key !== null && { payload: { authorization: `Bearer ${key}` } }) });
  await ready;
  return {
    closed,
    pause: () => socket.pause(),
    isOpen: () => socket.readyState === WebSocket.OPEN,
    sendText: (text: string) => socket.send(text),
    /** The first answer; a subscription is ended after it. */
    ask: async (payload: Question): Promise<Answer> => {
      count += 1;
      const id = String(count);
      const first = next(id);
      send({ id, type: 'subscribe', payload });
      const frame = await first;
      waiting.delete(id);
      if (frame.type === 'next') send({ id, type: 'complete' });
      if (frame.type === 'complete') throw new Error('The operation was completed without a word');
      return frame.type === 'error'
        ? ({ errors: frame.payload, data: undefined } as Answer)
        : (frame.payload as Answer);
    },
    close: async () => {
      socket.terminate();
      await closed;
    },
  };
};
