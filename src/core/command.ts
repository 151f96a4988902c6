import type { Executor, Hold, Priority } from './head.ts';

// Everything that can happen to a task. Each door translates into these; nobody else changes a task.

export type Part = {
  text?: string;
  data?: unknown;
  url?: string;
  raw?: string;
  filename?: string;
  mediaType?: string;
  metadata?: unknown;
};

export type Message = {
  id: string;
  author: 'USER' | 'AGENT' | 'SYSTEM';
  authorName: string;
  kind: 'TASK' | 'REPLY' | 'MESSAGE' | 'ACK' | 'BROADCAST';
  parts: Part[];
  inReplyTo: string | null;
  metadata: Record<string, unknown>;
};

export type Chunk = {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  append: boolean;
  lastChunk: boolean;
};

/** Who may report: the agent, the delivery it was given and, on the hub, the connection that holds it. */
export type Fence = { agent: string; delivery: number; holder?: string };

/** Who takes a delivery: the connection, and the instance that has it. An agent that works by GraphQL has neither. */
export type Taker = { holder: string; instance: string };

export type NewTask = {
  key: string;
  id: string;
  network: string;
  /** The context's key, and the id that people know it by. It is made with the task if it is new. */
  context: string;
  contextId: string;
  root: string;
  parent: string | null;
  depth: number;
  user: string;
  requester: { id: string; isAgent: boolean; name: string };
  executor: Executor;
  skill: string | null;
  priority: Priority;
  ttlSeconds: number | null;
  timeoutSeconds: number | null;
  /** What it costs, and whom; null: it is free. */
  hold: Hold | null;
  metadata: Record<string, unknown>;
};

type Report = { task: string; fence: Fence; n?: number };
type Asking = { task: string; actor: string };

export type Command =
  // asking for work
  | { kind: 'create'; task: string; created: NewTask; message: Message; taker?: Taker }
  | (Asking & { kind: 'followUp'; message: Message })
  | (Asking & { kind: 'cancel'; reason: string; text?: string })
  | (Asking & { kind: 'retry'; hold?: Hold | null })
  | (Asking & { kind: 'reassign'; executor: Executor; hold?: Hold | null })
  // doing work
  | (Report & { kind: 'acknowledge' })
  | (Report & { kind: 'progress'; text?: string })
  | (Report & { kind: 'artifact'; chunk: Chunk })
  | (Report & { kind: 'say'; message: Message })
  | (Report & { kind: 'ask'; state: 'INPUT_REQUIRED' | 'AUTH_REQUIRED'; message?: Message; text?: string })
  | (Report & { kind: 'complete'; message?: Message; usage?: unknown })
  | (Report & { kind: 'fail'; reason: string; message?: Message; usage?: unknown })
  | (Report & { kind: 'reject'; reason: string; message?: Message })
  | (Report & { kind: 'stop'; message?: Message })
  // handing over
  | { kind: 'take'; task: string; agent: string; taker: Taker | null }
  | { kind: 'resume'; task: string; agent: string; delivery: number; taker: Taker }
  | { kind: 'lose'; task: string; delivery: number; holder: string }
  /** `agent`: who had the delivery; the task may be another's by now. `isConfirmed`: it said that it stopped. */
  | { kind: 'release'; task: string; delivery: number; agent: string; isConfirmed?: boolean }
  // time
  | { kind: 'requeue'; task: string; delivery: number }
  | { kind: 'expire'; task: string; delivery: number }
  | { kind: 'timeOut'; task: string; delivery: number }
  | { kind: 'giveUp'; task: string; delivery: number };

export type CommandKind = Command['kind'];
