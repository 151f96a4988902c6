import { placeIn } from './chunk.ts';
import { openFrameSocket } from './frame-socket.ts';

// One graphql-ws socket that follows one task at a time. It looks only for the place of a chunk and for the end.

export type Subscriber = {
  /** Resolves with the number of chunks when the task's stream has completed. Every chunk must be the next one. */
  follow(task: string, onChunk?: (place: number) => void): Promise<number>;
  end(): void;
};

const taskEvents =
  'subscription ($id: ID!) { taskEvents(taskId: $id) { seq ... on ArtifactEvent { parts { text } } ... on StatusEvent { to } } }';

const complete = Buffer.from('"type":"complete"');
const next = Buffer.from('"type":"next"');
const errors = Buffer.from('"errors":');

type Following = { resolve(chunks: number): void; reject(error: Error): void; onChunk(place: number): void };

export const openSubscriber = async (url: string, key: string): Promise<Subscriber> => {
  let operation = 0;
  let seen = 0;
  let following: Following | undefined;
  let onReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const fail = (problem: string): void => {
    following?.reject(new Error(problem));
    following = undefined;
  };
  const socket = await openFrameSocket({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    headers: { 'sec-websocket-protocol': 'graphql-transport-ws' },
    onText(payload) {
      const place = placeIn(payload);
      if (place !== undefined) {
        if (place !== seen + 1) return fail(`Chunk ${place} came after chunk ${seen}`);
        seen = place;
        following?.onChunk(place);
      } else if (payload.includes(next)) {
        if (payload.includes(errors)) fail(payload.toString());
      } else if (payload.includes(complete)) {
        following?.resolve(seen);
        following = undefined;
      } else if (payload.includes('"connection_ack"')) onReady();
      else if (payload.includes('"type":"ping"')) socket.send('{"type":"pong"}');
      else fail(payload.toString());
    },
    onClosed: () => fail('A subscriber’s socket was closed'),
  });
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  await ready;
  const document = JSON.stringify(taskEvents);
  return {
    follow: (task, onChunk = () => undefined) =>
      new Promise((resolve, reject) => {
        operation += 1;
        seen = 0;
        following = { resolve, reject, onChunk };
        socket.send(
          `{"id":"${operation}","type":"subscribe","payload":{"query":${document},"variables":{"id":"${task}"}}}`,
        );
      }),
    end: () => socket.end(),
  };
};
