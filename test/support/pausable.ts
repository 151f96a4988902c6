import { once } from 'node:events';
import { request } from 'node:http';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Transport } from './subscription.ts';

// A subscriber whose socket can stop reading: what the hub sends then stays with the hub.

export type Pausable = {
  /** The numbers of the events, as they came. */
  seqs: number[];
  pause(): void;
  resume(): void;
  /** Resolves when the stream completes; rejects when it was cut. */
  completed: Promise<void>;
};

type Watching = { url: string; key: string; taskId: string };
type Sink = { onEvent: (seq: number) => void; onComplete: () => void; onCut: (error: Error) => void };
type Open = (watching: Watching, query: string, sink: Sink) => Promise<Pick<Pausable, 'pause' | 'resume'>>;

export const openPausable = async (transport: Transport, watching: Watching): Promise<Pausable> => {
  const query = `subscription { taskEvents(taskId: "${watching.taskId}") { seq ... on ArtifactEvent { parts { text } } } }`;
  const seqs: number[] = [];
  let sink: Omit<Sink, 'onEvent'> | undefined;
  const completed = new Promise<void>((resolve, reject) => {
    sink = { onComplete: resolve, onCut: reject };
  });
  completed.catch(() => undefined); // whoever waits for it hears it
  const socket = await open[transport](watching, query, {
    onEvent: (seq) => seqs.push(seq),
    onComplete: () => sink?.onComplete(),
    onCut: (error) => sink?.onCut(error),
  });
  return { seqs, completed, ...socket };
};

const overSocket: Open = async ({ url, key }, query, { onEvent, onComplete, onCut }) => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  socket.on('close', (code) => onCut(new Error(`Closed with ${code}`)));
  socket.on('message', (data) => {
    const { type, payload } = JSON.parse(data.toString());
    if (type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    else if (type === 'next') onEvent(payload.data.taskEvents.seq);
    else if (type === 'complete') onComplete();
    else onCut(new Error(`${type}: ${JSON.stringify(payload)}`));
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  return { pause: () => socket.pause(), resume: () => socket.resume() };
};

const overEventStream: Open = async ({ url, key }, query, { onEvent, onComplete, onCut }) => {
  const asked = request(`${url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` },
  });
  onTestFinished(() => void asked.destroy());
  asked.on('error', onCut);
  asked.end(JSON.stringify({ query }));
  const [response] = await once(asked, 'response');
  let rest = '';
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.match(/^data: (.+)$/m)?.[1];
      if (data !== undefined) onEvent(JSON.parse(data).data.taskEvents.seq);
      else if (block.startsWith('event: complete')) onComplete();
    }
  });
  response.on('close', () => onCut(new Error('Cut')));
  return { pause: () => response.pause(), resume: () => response.resume() };
};

const open: Record<Transport, Open> = { 'graphql-ws': overSocket, SSE: overEventStream };
