import { hold, settle } from './charge.ts';
import type { Rule } from './decide.ts';
import { take } from './decide-handing-over.ts';
import { DomainError } from './domain-error.ts';
import { type Draft, illegal, isFinished, log, move, say } from './draft.ts';
import { clearDeadline, endDelivery, hasRoom, newRank, queueUp } from './lane.ts';

// The requester's side: ask for work, answer a question, cancel, ask again.

const create: Rule<'create'> = (draft, { created, message, taker }, clock) => {
  const actor = created.requester.name;
  log(draft, actor, { kind: 'STATUS', from: null, to: 'SUBMITTED', payload: {} });
  say(draft, message);
  hold(draft, created.hold);
  queueUp(draft, actor, newRank(draft, clock));
  // Only when nobody is ahead: then the agent gets it in the same commit.
  const [lane] = draft.lanes;
  if (taker && lane?.running === null && lane.waiting === 1 && hasRoom(draft)) take(draft, taker);
  return undefined;
};

const followUp: Rule<'followUp'> = (draft, { message }, clock) => {
  const { task } = draft;
  if (isFinished(draft))
    throw new DomainError(
      'ILLEGAL_TRANSITION',
      `Task ${task.id} is ${task.state} and takes no more messages: start a new task in the same context`,
      { taskId: task.id, state: task.state },
    );
  say(draft, message);
  if (message.kind !== 'TASK' || (task.state !== 'INPUT_REQUIRED' && task.state !== 'AUTH_REQUIRED')) return undefined;
  // The answer: back to work, first in line within its priority.
  endDelivery(draft, 'system', { outcome: { outcome: 'INTERRUPTED' }, keepsPlace: false }, clock);
  clearDeadline(draft, 'INPUT');
  move(draft, message.authorName, 'WORKING', { reason: 'ANSWERED' });
  task.attempts = 0;
  queueUp(draft, message.authorName, newRank(draft, clock, true));
  return undefined;
};

const cancel: Rule<'cancel'> = (draft, { actor, reason, text }, clock) => {
  if (isFinished(draft)) throw illegal(draft.task, 'CANCELED');
  endDelivery(draft, actor, { outcome: { outcome: 'CANCELED' }, keepsPlace: true }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, 'RELEASED');
  draft.changes.push({ kind: 'result', text: text ?? null });
  move(draft, actor, 'CANCELED', { reason, ...(text !== undefined && { text }) });
  return undefined;
};

const retry: Rule<'retry'> = (draft, { actor, hold: price = null }, clock) => {
  if (!isFinished(draft)) throw illegal(draft.task, 'SUBMITTED');
  startOver(draft);
  hold(draft, price);
  move(draft, actor, 'SUBMITTED', { reason: 'RETRIED' });
  queueUp(draft, actor, newRank(draft, clock));
  return undefined;
};

const reassign: Rule<'reassign'> = (draft, { actor, executor, hold: price = null }, clock) => {
  const { task } = draft;
  if (task.state === 'COMPLETED') throw illegal(task, 'SUBMITTED');
  endDelivery(draft, actor, { outcome: { outcome: 'REASSIGNED' }, keepsPlace: true }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, 'RELEASED');
  startOver(draft);
  task.executor = executor;
  hold(draft, price);
  move(draft, actor, 'SUBMITTED', { reason: 'REASSIGNED' });
  queueUp(draft, actor, newRank(draft, clock));
  return undefined;
};

/** A new run: the log keeps what was; result and artifacts begin again. */
const startOver = (draft: Draft): void => {
  draft.task.run += 1;
  draft.task.attempts = 0;
  draft.task.isAcknowledged = false;
  draft.changes.push({ kind: 'result', text: null }, { kind: 'dropArtifacts' });
};

export const asking = { create, followUp, cancel, retry, reassign };
