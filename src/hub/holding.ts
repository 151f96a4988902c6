import type { DeliveryOutcome } from '../core/delivery-state.ts';
import type { TaskHead } from '../core/head.ts';
import type { TaskState } from '../core/task-state.ts';
import type { LoggedEvent } from '../core/watch.ts';

// A delivery that a connection has, and what the task's log says about it. The log is the only one to say that a delivery
// ended: so it does not matter which instance wrote it.

export type Holding = {
  key: string;
  id: string;
  delivery: number;
  isAsync: boolean;
  /** The agent’s name: what it says itself it need not be shown. */
  name: string;
  /** The line of the log with which it came here. */
  sinceSeq: number;
  /** Messages up to here were handed over with the task. */
  shownSeq: number;
  /** How far the log was followed. */
  cursor: number;
  state: TaskState;
  /** The ways in which the agent itself has reported the end. */
  reported: Set<DeliveryOutcome>;
  ended: { outcome: DeliveryOutcome; actor: string } | undefined;
  /** Since when the agent was asked to stop. */
  stoppingMs: number | undefined;
  /** Between queueing and hand-over: those messages came with the task. */
  isQueued: boolean;
  isFollowed: boolean;
  following: AbortController;
  /** What the agent was asked about it and may still answer. */
  questions: string[];
};

/** Why an agent has to stop. */
export type Because = { reason: string; text?: string };

export type MessageEvent = Extract<LoggedEvent, { kind: 'MESSAGE' }>;

type Sight =
  | { kind: 'nothing' }
  | { kind: 'message'; event: MessageEvent }
  /** Ended by the agent itself, or somebody else’s now. */
  | { kind: 'gone' }
  /** Ended by somebody else just as the agent reported the same. */
  | { kind: 'stopped' }
  | ({ kind: 'stop' } & Because);

export const createHolding = (task: TaskHead, { after, shown }: { after: number; shown: number }): Holding => ({
  key: task.key,
  id: task.id,
  delivery: task.delivery,
  isAsync: task.executor.isAsync,
  name: task.executor.name,
  sinceSeq: task.seq,
  shownSeq: shown,
  cursor: after,
  state: task.state,
  reported: new Set(),
  ended: undefined,
  stoppingMs: undefined,
  isQueued: false,
  isFollowed: false,
  following: new AbortController(),
  questions: [],
});

const nothing: Sight = { kind: 'nothing' };

/** One line of the log, seen by who holds the delivery. */
export const see = (holding: Holding, event: LoggedEvent): Sight => {
  switch (event.kind) {
    case 'DELIVERY':
      return seeDelivery(holding, event);
    case 'STATUS':
      holding.state = event.to;
      return holding.ended ? end(holding, holding.ended, event.payload) : nothing;
    case 'MESSAGE':
      return isNews(holding, event) ? { kind: 'message', event } : nothing;
    default:
      return nothing;
  }
};

const seeDelivery = (holding: Holding, event: Extract<LoggedEvent, { kind: 'DELIVERY' }>): Sight => {
  const { number, outcome, detail } = event.payload;
  if (number !== holding.delivery) return nothing;
  holding.isQueued = event.to === 'QUEUED';
  if (event.seq <= holding.sinceSeq) return nothing;
  if (detail === 'connection lost' || detail === 'resumed') return { kind: 'gone' };
  if (outcome) holding.ended = { outcome, actor: event.actor }; // the status that follows says why
  return nothing;
};

const end = (
  { name, reported }: Holding,
  { outcome, actor }: NonNullable<Holding['ended']>,
  { reason = outcome, text }: { reason?: string; text?: string },
): Sight => {
  if (!canBeForced.has(outcome)) return { kind: 'gone' };
  if (reported.has(outcome)) return { kind: actor === name ? 'gone' : 'stopped' };
  return { kind: 'stop', reason, ...(text !== undefined && { text }) };
};

/** Ways in which others end a delivery under an agent that works. */
const canBeForced = new Set<DeliveryOutcome>(['CANCELED', 'FAILED', 'EXPIRED', 'REASSIGNED']);

const isNews = (holding: Holding, event: MessageEvent): boolean => {
  const { author, authorName, kind } = event.payload.message;
  if (holding.isQueued || event.seq <= holding.shownSeq || kind === 'ACK') return false;
  if (author === 'AGENT' && authorName === holding.name) return false;
  return !(kind === 'TASK' && holding.state === 'AUTH_REQUIRED'); // the answer comes with a delivery of its own
};
