import type { DeliveryState } from './delivery-state.ts';
import type { TaskState } from './task-state.ts';

// Heads are what rules look at: small, versioned, cached by the writer. A task's version is its `seq`.

export type Priority = 'HIGH' | 'NORMAL' | 'LOW';
type WhenLost = 'REQUEUE' | 'FAIL';

/** What the rules need to know of the agent that does the work. */
export type Executor = {
  id: string;
  name: string;
  isAsync: boolean;
  whenLost: WhenLost;
  maxAttempts: number;
  graceSeconds: number;
  turnSeconds: number;
  /** How many tasks at once; null: any number. */
  capacity: number | null;
};

/** Money that is reserved for a task, in millionths of a dollar. */
export type Hold = { account: string; micros: bigint };

export type TaskHead = {
  key: string;
  id: string;
  network: string;
  context: string;
  root: string;
  executor: Executor;
  priority: Priority;
  state: TaskState;
  /** Counts retries and reassignments, from 1. */
  run: number;
  seq: number;
  generation: number;
  /** The number of the latest delivery: the fencing token. */
  delivery: number;
  deliveryState: DeliveryState;
  /** The connection that holds the delivery; null: nobody, or an agent that works by GraphQL. */
  holder: string | null;
  /** The last `n` of the delivery's reports. */
  lastN: number;
  /** Its place in line. */
  rank: number;
  /** How often it was taken in this run. */
  attempts: number;
  /** An agent has acknowledged it in this run: it no longer expires. */
  isAcknowledged: boolean;
  /** How long it may wait to be acknowledged; null: the default, counted from when nothing is ahead. */
  ttlSeconds: number | null;
  timeoutSeconds: number | null;
  /** The seq before the first line of the present turn. */
  turnSeq: number;
  /** The status texts of the present turn: they become its message if the agent ends it without one. */
  turn: Turn;
  /** What is reserved for it now; null: it is free, or settled. */
  hold: Hold | null;
};

/** Texts, last first: saying one more costs the same however much was said before. */
export type Turn = { text: string; before: Turn } | null;

export const textOfTurn = (turn: Turn): string => {
  const texts: string[] = [];
  for (let said = turn; said; said = said.before) texts.push(said.text);
  return texts.reverse().join('');
};

/** The queue of one agent in one context. */
export type LaneHead = {
  agent: string;
  context: string;
  version: number;
  /** Which delivery has the place, also a while after it was cancelled. */
  running: { task: string; delivery: number } | null;
  /** The first in line; undefined: known only to the database. */
  first: string | null | undefined;
  waiting: number;
};

/** How much an agent with a capacity does at once. */
export type LoadHead = { agent: string; version: number; running: number };

const priorities: Record<Priority, number> = { HIGH: 0, NORMAL: 1, LOW: 2 };

/** Lower goes first: by priority, then interrupted tasks, then age. Fits a double: 2 + 1 + 45 bits. */
export const rankOf = (priority: Priority, isInterrupted: boolean, atMs: number): number =>
  (priorities[priority] * 2 + (isInterrupted ? 0 : 1)) * 2 ** 45 + atMs;
