import { chunkText } from './chunk.ts';
import { type FrameSocket, frameOf, openFrameSocket } from './frame-socket.ts';

// An agent on a bare socket. Its reports are made beforehand; only the task's id is written into them.

export type BareAgent = {
  /** Sends the chunks `from` to `to`, both counted from 1. */
  stream(task: string, from: number, to: number): void;
  complete(task: string): void;
  end(): void;
};

type Options = {
  url: string;
  name: string;
  token: string;
  onTask: (task: string, context: string) => void;
  onProblem: (what: string) => void;
};

const idLength = 36;
const blank = 'x'.repeat(idLength);
const report = (method: string, rest: string): string =>
  `{"jsonrpc":"2.0","method":"${method}","params":{"task_id":"${blank}","delivery":1,${rest}}}`;

const chunkFrame = (n: number): Buffer => {
  const parts = `[{"type":"text","text":"${chunkText(n)}"}]`;
  return frameOf(report('task.artifact', `"artifact":{"artifact_id":"a","parts":${parts}},"append":true`));
};
const completeFrame = frameOf(report('task.complete', '"status":{"state":"completed"},"final":true'));
const width = chunkFrame(1).length; // all are as long
const idAt = chunkFrame(1).indexOf(blank);
const idAtComplete = completeFrame.indexOf(blank);

let made = Buffer.alloc(0);
const chunkFrames = (upTo: number): Buffer => {
  if (made.length < upTo * width)
    made = Buffer.concat(Array.from({ length: Math.max(1_000, upTo) }, (_, index) => chunkFrame(index + 1)));
  return made;
};

export const openAgent = async ({ url, name, token, onTask, onProblem }: Options): Promise<BareAgent> => {
  let onRegistered: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    onRegistered = resolve;
  });
  const socket: FrameSocket = await openFrameSocket({
    url: `${url.replace(/^http/, 'ws')}/hub`,
    headers: { authorization: `Bearer ${token}` },
    onText(payload) {
      const { id, method, params, result, error } = JSON.parse(payload.toString());
      if (method === 'task.execute') {
        socket.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`);
        if (params.delivery !== 1) onProblem(`${params.task_id} came as delivery ${params.delivery}`);
        onTask(params.task_id, params.context_id);
      } else if (result?.registered) onRegistered();
      else if (error || method === 'error' || method === 'task.cancel') onProblem(payload.toString());
    },
    onClosed: () => onProblem('an agent’s socket was closed'),
  });
  socket.send(`{"jsonrpc":"2.0","id":1,"method":"agent.register","params":{"agent_name":"${name}"}}`);
  await ready;
  return {
    stream(task, from, to) {
      const frames = Buffer.from(chunkFrames(to).subarray((from - 1) * width, to * width));
      for (let at = idAt; at < frames.length; at += width) frames.write(task, at, 'latin1');
      socket.write(frames);
    },
    complete(task) {
      const frame = Buffer.from(completeFrame);
      frame.write(task, idAtComplete, 'latin1');
      socket.write(frame);
    },
    end: () => socket.end(),
  };
};
