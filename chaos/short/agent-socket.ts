import { WebSocket } from 'ws';
import type { Line } from './record.ts';
import { lateText } from './script.ts';
import type { AgentIdentity } from './world.ts';

// One connection of an agent to the hub: JSON-RPC over a WebSocket, as docs/hub-protocol.md has it.

/** seq: stored. Without a code: nobody knows. */
export type Answer = { seq: number } | { code: string | undefined };

export type AgentSocket = {
  connection: number;
  request(id: string, method: string, params: object): Promise<Answer>;
  /** Something about a delivery that may be another connection's by now. */
  talkLate(about: { task: string; delivery: number; canary: string }): void;
  /** A report on somebody else's task. */
  tryForeign(task: string): void;
  /** It is not the agent's connection any more; the socket stays open. */
  leave(): void;
  end(): void;
  over: Promise<void>;
};

type Options = {
  url: string;
  agent: AgentIdentity;
  connection: number;
  isTakeover: boolean;
  resume: { task_id: string; delivery: number; last_seq: number }[];
  write: (line: Line) => void;
  onText: (text: string) => void;
  onRegistered: (socket: AgentSocket, lastN: Record<string, number>) => void;
  onExecute: (socket: AgentSocket, given: { task: string; delivery: number; seq: number }) => void;
  /** Returns whether it is confirmed. */
  onCancel: (given: { task: string; delivery: number }) => boolean;
  /** How long it thinks before it goes on with what it had. */
  pauseMs: () => number;
};

type Frame = {
  id?: string;
  method?: string;
  params?: { task_id: string; delivery: number; seq: number; code: string };
  result?: { seq: number; registered?: boolean; last_n?: Record<string, number>; resumed?: string[] };
  error?: { code: number; data?: { code: string } };
};

const patienceMs = 3_000;
const openAlready = -32_600; // the answer to a frame that arrived twice

export const connectAgent = (options: Options): AgentSocket => {
  const { url, agent, connection, write } = options;
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/hub`, {
    headers: { authorization: `Bearer ${agent.token}` },
  });
  const asked = new Map<string, (answer: Answer) => void>();
  let heardMs = Date.now();
  let isLeft = false;
  let leave: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    leave = () => {
      isLeft = true;
      resolve();
    };
  });
  const send = (frame: object): void => {
    if (ws.readyState === WebSocket.OPEN) ws.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
  };
  const heartbeat = setInterval(() => {
    if (Date.now() - heardMs > patienceMs) ws.terminate();
    else if (ws.readyState === WebSocket.OPEN) ws.ping();
  }, 1_000);

  const register = (): void => {
    const { resume, isTakeover } = options;
    const params = { agent_name: agent.name, resume, ...(isTakeover && { takeover: true }) };
    send({ id: 'register', method: 'agent.register', params });
  };
  const registered = ({ registered, last_n: lastN = {}, resumed = [] }: NonNullable<Frame['result']>): void => {
    if (!registered) return;
    const deliveries = new Map(options.resume.map((each) => [each.task_id, each.delivery]));
    const held = resumed.map((task) => ({ task, delivery: deliveries.get(task) ?? 0, lastN: lastN[task] ?? 0 }));
    write({ at: 'registered', ms: Date.now(), connection, resumed: held });
    setTimeout(() => options.onRegistered(socket, lastN), options.pauseMs());
  };

  const take = ({ id, method, params, result, error }: Frame): void => {
    if (method === 'task.execute' && params) {
      const { task_id: task, delivery, seq } = params;
      if (isLeft) return; // nobody is there to take it
      write({ at: 'executed', ms: Date.now(), connection, task, delivery });
      send({ id, result: { status: 'accepted' } });
      options.onExecute(socket, { task, delivery, seq });
    } else if (method === 'task.cancel' && params) {
      const { task_id: task, delivery } = params;
      if (options.onCancel({ task, delivery })) send({ id, result: { status: 'canceled' } });
    } else if (method === 'error' && params) write({ at: 'refusal', ms: Date.now(), connection, code: params.code });
    else if (method !== undefined || id === undefined || error?.code === openAlready) return;
    else if (id === 'register') result && registered(result);
    else {
      const answer = asked.get(id);
      asked.delete(id);
      answer?.(result ? { seq: result.seq } : { code: error?.data?.code ?? 'INTERNAL' });
    }
  };

  ws.on('open', register);
  ws.on('pong', () => {
    heardMs = Date.now();
  });
  ws.on('message', (data) => {
    heardMs = Date.now();
    const text = data.toString();
    options.onText(text);
    take(JSON.parse(text));
  });
  ws.on('error', () => undefined); // a close follows
  ws.on('close', () => {
    clearInterval(heartbeat);
    for (const answer of asked.values()) answer({ code: undefined });
    asked.clear();
    leave();
  });

  const socket: AgentSocket = {
    connection,
    over,
    request: (id, method, params) =>
      new Promise((resolve) => {
        asked.set(id, resolve);
        send({ id, method, params });
      }),
    talkLate({ task, delivery, canary }) {
      if (ws.readyState !== WebSocket.OPEN) return;
      const text = lateText(canary, delivery, connection);
      write({ at: 'invoke', ms: Date.now(), op: `${task}-${Date.now()}`, kind: 'late', task, delivery, connection });
      const status = { state: 'working', message: { parts: [{ type: 'text', text }] } };
      send({ method: 'task.status', params: { task_id: task, delivery, status } });
    },
    tryForeign(task) {
      const op = `foreign-${task}-${Date.now()}`;
      write({ at: 'invoke', ms: Date.now(), op, kind: 'foreign', task, what: 'task.status' });
      const params = { task_id: task, delivery: 1, status: { state: 'working' } };
      void socket.request(op, 'task.status', params).then((answer) => {
        const ms = Date.now();
        if ('seq' in answer) write({ at: 'ok', ms, op, seq: answer.seq });
        else if (answer.code === undefined || answer.code === 'INTERNAL')
          write({ at: 'unknown', ms, op, why: 'connection' });
        else write({ at: 'fail', ms, op, code: answer.code });
      });
    },
    leave: () => leave(),
    end: () => ws.terminate(),
  };
  return socket;
};
