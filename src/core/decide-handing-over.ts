import { settle } from './charge.ts';
import type { Taker } from './command.ts';
import { type Clock, nothing, type Rule } from './decide.ts';
import { DomainError } from './domain-error.ts';
import { advance, type DeadlineKind, type Draft, isFinished, laneOf, log, move } from './draft.ts';
import { clearDeadline, endDelivery, freePlace, hasRoom, queueUp, setDeadline, takePlace } from './lane.ts';

// The dispatcher's and the patrols' side. They may come late or twice: what no longer holds changes nothing.

const takeRule: Rule<'take'> = (draft, { agent, taker }) => {
  const { task } = draft;
  if (task.executor.id !== agent) return nothing; // reassigned since somebody looked
  const lane = laneOf(draft);
  if (task.deliveryState !== 'QUEUED' || lane.running !== null || lane.first !== task.key) return nothing;
  if (!hasRoom(draft)) return nothing;
  take(draft, taker);
  return undefined;
};

export const take = (draft: Draft, taker: Taker | null): void => {
  const { task } = draft;
  takePlace(draft);
  task.holder = taker?.holder ?? null;
  task.attempts += 1;
  advance(draft, 'system', 'DELIVERED', taker ? { instance: taker.instance } : {});
  setDeadline(draft, 'TURN', task.timeoutSeconds ?? task.executor.turnSeconds);
};

const resume: Rule<'resume'> = (draft, { agent, delivery, taker }) => {
  const { task } = draft;
  if (task.executor.id !== agent) throw new DomainError('NOT_FOUND', `There is no task ${task.id}`);
  if (delivery !== task.delivery || task.deliveryState === 'QUEUED' || task.deliveryState === 'ENDED')
    throw new DomainError('STALE_DELIVERY', `Delivery ${delivery} of task ${task.id} is no longer yours`, {
      taskId: task.id,
      state: task.state,
      expected: task.delivery,
      actual: delivery,
    });
  hold(draft, taker.holder, taker.instance, 'resumed');
  clearDeadline(draft, 'GRACE');
  return undefined;
};

const lose: Rule<'lose'> = (draft, { delivery, holder }) => {
  const { task } = draft;
  if (delivery !== task.delivery || task.holder !== holder) return nothing;
  hold(draft, null, null, 'connection lost');
  setDeadline(draft, 'GRACE', task.executor.graceSeconds);
  return undefined;
};

/** The holder changes and the log tells it, so that a flush of the former holder is missed. */
const hold = (draft: Draft, holder: string | null, instance: string | null, detail: string): void => {
  const { task } = draft;
  task.holder = holder;
  const { deliveryState: state, delivery: number } = task;
  log(draft, 'system', { kind: 'DELIVERY', from: state, to: state, payload: { number, detail } });
  draft.changes.push({ kind: 'delivery', number, state, agent: task.executor.id, holder, instance });
};

const release: Rule<'release'> = (draft, { delivery, agent, isConfirmed }) => {
  const { task } = draft;
  const isLive = delivery === task.delivery && task.deliveryState !== 'ENDED';
  if (isLive) return overtaken(draft, 'PLACE', delivery);
  if (isConfirmed) draft.changes.push({ kind: 'confirm', number: delivery });
  freePlace(draft, agent, delivery);
  return undefined;
};

/** The grace is over and the agent has not come back. */
const requeue: Rule<'requeue'> = (draft, { delivery }, clock) => {
  const { task } = draft;
  const { deliveryState, executor, rank, attempts } = task;
  if (delivery !== task.delivery || task.holder !== null || deliveryState === 'QUEUED' || deliveryState === 'ENDED')
    return overtaken(draft, 'GRACE', delivery);
  const isUnread = deliveryState === 'DELIVERED'; // what was not acknowledged is always handed over again
  if (!isUnread && executor.whenLost === 'FAIL') return lost(draft, 'AGENT_LOST', clock);
  if (attempts >= executor.maxAttempts) return lost(draft, 'TOO_MANY_ATTEMPTS', clock);
  endDelivery(draft, 'system', { outcome: { outcome: 'LOST' }, keepsPlace: false, keepsTtl: isUnread }, clock);
  queueUp(draft, 'system', rank, { keepsTtl: isUnread });
  if (task.state === 'AUTH_REQUIRED') {
    clearDeadline(draft, 'INPUT'); // the question goes with the new delivery
    setDeadline(draft, 'INPUT', clock.inputSeconds);
  }
  return undefined;
};

const lost = (draft: Draft, reason: string, clock: Clock): undefined => {
  endDelivery(draft, 'system', { outcome: { outcome: 'LOST' }, keepsPlace: false }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, 'RELEASED');
  move(draft, 'system', 'FAILED', { reason });
};

/** Nobody has acknowledged the delivery in time. */
const expire: Rule<'expire'> = (draft, { delivery }, clock) => {
  const { task } = draft;
  const isUnread = task.deliveryState === 'QUEUED' || task.deliveryState === 'DELIVERED';
  if (delivery !== task.delivery || !isUnread) return overtaken(draft, 'TTL', delivery);
  const isNew = task.state === 'SUBMITTED' && !task.isAcknowledged;
  endDelivery(draft, 'system', { outcome: { outcome: isNew ? 'EXPIRED' : 'FAILED' }, keepsPlace: true }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, 'RELEASED');
  if (isNew) move(draft, 'system', 'EXPIRED', { reason: 'TTL' });
  else move(draft, 'system', 'FAILED', { reason: 'AGENT_UNREACHABLE' });
  return undefined;
};

/** The turn took too long. */
const timeOut: Rule<'timeOut'> = (draft, { delivery }, clock) => {
  const { task } = draft;
  if (delivery !== task.delivery || task.deliveryState === 'QUEUED' || task.deliveryState === 'ENDED')
    return overtaken(draft, 'TURN', delivery);
  endDelivery(draft, 'system', { outcome: { outcome: 'FAILED' }, keepsPlace: true }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, 'RELEASED');
  move(draft, 'system', 'FAILED', { reason: 'TIMEOUT' });
  return undefined;
};

/** Nobody has answered the agent's question. */
const giveUp: Rule<'giveUp'> = (draft, { delivery }, clock) => {
  const { task } = draft;
  const isAsking = task.state === 'INPUT_REQUIRED' || task.state === 'AUTH_REQUIRED';
  if (isFinished(draft) || delivery !== task.delivery || !isAsking) return overtaken(draft, 'INPUT', delivery);
  endDelivery(draft, 'system', { outcome: { outcome: 'CANCELED' }, keepsPlace: true }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, 'RELEASED');
  move(draft, 'system', 'CANCELED', { reason: 'INPUT_TIMEOUT' });
  return undefined;
};

/** The deadline fell due and no longer matters: it goes, unless a later delivery has set it anew. */
const overtaken = (draft: Draft, deadline: DeadlineKind, number: number): undefined => {
  draft.changes.push({ kind: 'clearDeadline', deadline, number });
};

export const handingOver = { take: takeRule, resume, lose, release, requeue, expire, timeOut, giveUp };
