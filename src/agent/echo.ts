import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

// The agent that comes with the hub: it sends back what it hears, word by word. Also the shortest example of how an agent
// speaks with the hub.

export type EchoAgent = { stop(): Promise<void> };

type Execute = { task_id: string; delivery: number; message: { parts: { text?: string }[] } };

const betweenWordsMs = 250;
const atMostMs = 5_000; // a long text goes faster
const comeBackMs = 1_000;

export const startEchoAgent = ({ url, token }: { url: string; token: string }): EchoAgent => {
  const stopping = new AbortController();
  const living = live(url, token, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await living;
    },
  };
};

const live = async (url: string, token: string, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await connect(url, token, signal);
    await sleep(comeBackMs, undefined, { signal }).catch(() => undefined);
  }
};

const connect = (url: string, token: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/hub`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const canceled = new Set<string>();
    const send = (message: object): void => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const leave = (): void => socket.close(1000);
    signal.addEventListener('abort', leave);
    socket.on('error', () => undefined); // a close follows
    socket.on('close', () => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    socket.on('open', () => send({ id: 1, method: 'agent.register', params: { agent_name: 'echo' } }));
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data));
      if (method === 'task.execute') {
        send({ id, result: { status: 'accepted' } });
        void echo(params, { send, isOver: () => canceled.has(params.task_id) || socket.readyState !== WebSocket.OPEN });
      }
      if (method === 'task.cancel') {
        canceled.add(params.task_id);
        send({ id, result: { status: 'canceled' } });
      }
    });
  });

type Line = { send: (message: object) => void; isOver: () => boolean };

const echo = async ({ task_id, delivery, message }: Execute, { send, isOver }: Line): Promise<void> => {
  const words =
    message.parts
      .map(({ text = '' }) => text)
      .join(' ')
      .match(/\s*\S+\s*?/g) ?? [];
  const report = { task_id, delivery };
  for (const [index, text] of words.entries()) {
    if (isOver()) return;
    const artifact = { artifact_id: 'echo', name: 'Echo', parts: [{ type: 'text', text }] };
    const last_chunk = index === words.length - 1;
    send({ method: 'task.artifact', params: { ...report, artifact, append: index > 0, last_chunk } });
    await sleep(Math.min(betweenWordsMs, atMostMs / words.length));
  }
  if (!isOver()) send({ method: 'task.complete', params: { ...report, status: { state: 'completed' }, final: true } });
};
