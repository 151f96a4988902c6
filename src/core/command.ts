import type { Executor, Priority } from './head.ts';

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

/** Who takes a delivery: the connection, and the instance that has it. */
export type Taker = { holder: string; instance: string };

export type NewTask = {
  key: string;
  id: string;
  network: string;
  context: string;
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
  metadata: Record<string, unknown>;
};

type Report = { task: string; fence: Fence; n?: number };
type Asking = { task: string; actor: string };

export type Command =
  // asking for work
  | { kind: 'create'; task: string; created: NewTask; message: Message; taker?: Taker }
  | (Asking & { kind: 'followUp'; message: Message })
  | (Asking & { kind: 'cancel'; reason: string; text?: string })
  | (Asking & { kind: 'retry' })
  | (Asking & { kind: 'reassign'; executor: Executor })
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
  | { kind: 'take'; task: string; taker: Taker }
  | { kind: 'resume'; task: string; delivery: number; taker: Taker }
  | { kind: 'lose'; task: string; delivery: number; holder: string }
  /** `agent`: who had the delivery; the task may be another's by now. */
  | { kind: 'release'; task: string; delivery: number; agent: string }
  // time
  | { kind: 'requeue'; task: string; delivery: number }
  | { kind: 'expire'; task: string; delivery: number }
  | { kind: 'timeOut'; task: string; delivery: number }
  | { kind: 'giveUp'; task: string; delivery: number };

export type CommandKind = Command['kind'];
