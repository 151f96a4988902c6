import type { Clock } from './decide.ts';
import { DomainError } from './domain-error.ts';
import { advance, type Draft, laneOf, log } from './draft.ts';
import { rankOf } from './head.ts';

// One agent works on one task of a context at a time; the others wait in line.

const roomInLine = 9_999;

/** A new delivery at the end of the line, or at the place it had (`rank`). */
export const queueUp = (draft: Draft, actor: string, rank: number, { keepsTtl = false } = {}): void => {
  const { task } = draft;
  const lane = laneOf(draft);
  if (lane.waiting >= roomInLine)
    throw new DomainError(
      'QUEUE_FULL',
      `${lane.waiting} tasks wait for ${task.executor.name} in this context already`,
      {
        taskId: task.id,
        expected: `fewer than ${roomInLine}`,
        actual: lane.waiting,
      },
    );
  task.delivery += 1;
  task.deliveryState = 'QUEUED';
  task.holder = null;
  task.lastN = 0;
  task.turn = null;
  task.turnSeq = task.seq;
  task.rank = rank;
  log(draft, actor, { kind: 'DELIVERY', from: null, to: 'QUEUED', payload: { number: task.delivery } });
  draft.changes.push(
    { kind: 'delivery', number: task.delivery, state: 'QUEUED', agent: task.executor.id, holder: null, instance: null },
    { kind: 'wait', lane, rank },
  );
  lane.version += 1;
  lane.first = lane.waiting === 0 ? task.key : undefined;
  lane.waiting += 1;
  const former = task.delivery - 1;
  if (keepsTtl) draft.changes.push({ kind: 'keepDeadline', deadline: 'TTL', number: task.delivery, former });
  else if (task.ttlSeconds !== null) setDeadline(draft, 'TTL', task.ttlSeconds);
};

export const newRank = (draft: Draft, { nowMs }: Clock, isInterrupted = false): number =>
  rankOf(draft.task.priority, isInterrupted, nowMs);

/** May the agent do one more at once? Who takes for an agent with a capacity raises the version of its load. */
export const hasRoom = ({ task, load }: Draft): boolean =>
  task.executor.capacity === null || (load !== undefined && load.running < task.executor.capacity);

/** The delivery leaves the line and takes the place. */
export const takePlace = (draft: Draft): void => {
  leaveLine(draft);
  const lane = laneOf(draft);
  lane.running = { task: draft.task.key, delivery: draft.task.delivery };
  if (draft.load) draft.load = { ...draft.load, version: draft.load.version + 1, running: draft.load.running + 1 };
};

/** The place in the lane of an agent is free again, if this delivery has it. */
export const freePlace = (draft: Draft, agent: string, delivery: number): void => {
  const { key, context } = draft.task;
  const lane = draft.lanes.find((each) => each.agent === agent && each.context === context);
  draft.changes.push({ kind: 'clearDeadline', deadline: 'PLACE', number: delivery });
  if (lane?.running?.task !== key || lane.running.delivery !== delivery) return;
  lane.running = null;
  lane.version += 1;
};

type Ending = {
  outcome: Parameters<typeof advance>[3] & object;
  /** It may still be busy: keep its place a while. */
  keepsPlace: boolean;
  /** The time until somebody acknowledges the task goes on. */
  keepsTtl?: boolean;
};

/** Ends the live delivery, wherever it is. */
export const endDelivery = (
  draft: Draft,
  actor: string,
  { outcome, keepsPlace, keepsTtl }: Ending,
  clock: Clock,
): void => {
  const { task } = draft;
  if (task.deliveryState === 'ENDED') return;
  const isQueued = task.deliveryState === 'QUEUED';
  if (isQueued) leaveLine(draft);
  advance(draft, actor, 'ENDED', outcome);
  if (!keepsTtl) clearDeadline(draft, 'TTL');
  for (const deadline of ['TURN', 'GRACE'] as const) clearDeadline(draft, deadline);
  if (isQueued) return;
  if (keepsPlace) setDeadline(draft, 'PLACE', clock.placeSeconds);
  else freePlace(draft, task.executor.id, task.delivery);
};

export const setDeadline = (
  draft: Draft,
  deadline: 'TTL' | 'TURN' | 'INPUT' | 'GRACE' | 'PLACE',
  afterSeconds: number,
): void => {
  draft.changes.push({ kind: 'deadline', deadline, number: draft.task.delivery, afterSeconds });
};

export const clearDeadline = (draft: Draft, deadline: 'TTL' | 'TURN' | 'INPUT' | 'GRACE'): void => {
  draft.changes.push({ kind: 'clearDeadline', deadline });
};

const leaveLine = (draft: Draft): void => {
  const lane = laneOf(draft);
  draft.changes.push({ kind: 'leave', lane, rank: draft.task.rank });
  lane.version += 1;
  lane.waiting -= 1;
  lane.first = lane.waiting === 0 ? null : undefined;
};
