import type { Chunk, Message } from './command.ts';
import { type DeliveryOutcome, type DeliveryState, mayAdvance } from './delivery-state.ts';
import { DomainError } from './domain-error.ts';
import type { Hold, LaneHead, LoadHead, TaskHead } from './head.ts';
import { isTerminal, mayMove, restless, type TaskState } from './task-state.ts';

// What one command changes, while it is being decided: heads as they will be, and the rows that tell it.

export type EventLine =
  | { kind: 'STATUS'; from: TaskState | null; to: TaskState; payload: StatusPayload }
  | { kind: 'MESSAGE'; from: null; to: null; payload: { message: Message } }
  | { kind: 'ARTIFACT'; from: null; to: null; payload: Chunk }
  | { kind: 'DELIVERY'; from: DeliveryState | null; to: DeliveryState; payload: DeliveryPayload }
  | { kind: 'CHARGE'; from: ChargeState | null; to: ChargeState; payload: { amount: string } };

export type ChargeState = 'HELD' | 'CAPTURED' | 'RELEASED';

export type StatusPayload = { reason?: string; text?: string; messageId?: string };
type DeliveryPayload = { number: number; outcome?: DeliveryOutcome; detail?: string };
export type TaskEvent = EventLine & { seq: number; actor: string };

export type DeadlineKind = 'TTL' | 'TURN' | 'INPUT' | 'GRACE' | 'PLACE';

/** Changes of rows beside the heads. `at` of everything is the moment of the decision. */
export type Change =
  | {
      kind: 'delivery';
      number: number;
      state: DeliveryState;
      outcome?: DeliveryOutcome;
      agent: string;
      holder: string | null;
      instance: string | null;
    }
  | { kind: 'wait'; lane: LaneHead; rank: number }
  | { kind: 'leave'; lane: LaneHead; rank: number }
  | { kind: 'deadline'; deadline: DeadlineKind; number: number; afterSeconds: number }
  /** With a number: only if it is still that delivery's. */
  | { kind: 'clearDeadline'; deadline: DeadlineKind; number?: number }
  /** The deadline of a former delivery is this one's now. */
  | { kind: 'keepDeadline'; deadline: DeadlineKind; number: number; former: number }
  | { kind: 'result'; text: string | null }
  | { kind: 'usage'; usage: unknown }
  | { kind: 'dropArtifacts' }
  | { kind: 'charge'; run: number; state: ChargeState; hold: Hold }
  /** The agent said that it stopped. */
  | { kind: 'confirm'; number: number };

export type Draft = {
  task: TaskHead;
  /** The lane of the task and, in a reassignment, the one it goes to. */
  lanes: LaneHead[];
  /** Of the agent that takes, if it has a capacity. */
  load: LoadHead | undefined;
  /** What the payer's account can cover; undefined: nobody has looked, the database will. */
  available: bigint | undefined;
  events: TaskEvent[];
  changes: Change[];
};

export const log = (draft: Draft, actor: string, line: EventLine): void => {
  draft.task.seq += 1;
  if (line.kind === 'ARTIFACT') draft.task.generation += 1;
  draft.events.push({ ...line, seq: draft.task.seq, actor });
};

/** The only place where a task's state is assigned. */
export const move = (draft: Draft, actor: string, to: TaskState, payload: StatusPayload = {}): void => {
  const { task } = draft;
  const from = task.state;
  if (!mayMove(from, to) && !(from === to && restless.includes(from))) throw illegal(task, to);
  if (from !== to) task.generation += 1;
  task.state = to;
  log(draft, actor, { kind: 'STATUS', from, to, payload });
};

/** The only place where a delivery's state is assigned. */
export const advance = (
  draft: Draft,
  actor: string,
  to: DeliveryState,
  more: { outcome?: DeliveryOutcome; instance?: string } = {},
): void => {
  const { task } = draft;
  const from = task.deliveryState;
  if (!mayAdvance(from, to))
    throw new Error(`Delivery ${task.delivery} of task ${task.id} cannot go from ${from} to ${to}`);
  task.deliveryState = to;
  if (to === 'ENDED') task.holder = null;
  const { outcome, instance = null } = more;
  log(draft, actor, { kind: 'DELIVERY', from, to, payload: { number: task.delivery, ...(outcome && { outcome }) } });
  draft.changes.push({
    kind: 'delivery',
    number: task.delivery,
    state: to,
    ...(outcome && { outcome }),
    agent: task.executor.id,
    holder: task.holder,
    instance,
  });
};

export const say = (draft: Draft, message: Message): void =>
  log(draft, message.authorName, { kind: 'MESSAGE', from: null, to: null, payload: { message } });

export const laneOf = (draft: Draft): LaneHead => {
  const { executor, context } = draft.task;
  const lane = draft.lanes.find((each) => each.agent === executor.id && each.context === context);
  if (!lane) throw new Error(`The lane of task ${draft.task.id} was not loaded`);
  return lane;
};

export const illegal = (task: TaskHead, to: TaskState): DomainError =>
  new DomainError('ILLEGAL_TRANSITION', `Task ${task.id} cannot go from ${task.state} to ${to}`, {
    taskId: task.id,
    state: task.state,
  });

export const isFinished = (draft: Draft): boolean => isTerminal(draft.task.state);
