import { settle } from './charge.ts';
import type { Fence, Message } from './command.ts';
import { type Clock, nothing, type Rule } from './decide.ts';
import type { DeliveryOutcome } from './delivery-state.ts';
import { DomainError } from './domain-error.ts';
import { advance, type Draft, isFinished, log, move, say } from './draft.ts';
import { type TaskHead, textOfTurn } from './head.ts';
import { clearDeadline, endDelivery, setDeadline } from './lane.ts';
import { textOf } from './part.ts';
import { spokenBy } from './report.ts';
import { isTerminal, type TaskState } from './task-state.ts';

// The agent's side. Every report is fenced: by agent, delivery and, on the hub, the connection that holds it.

type Fenced = { fence: Fence; n?: number };

const acknowledge: Rule<'acknowledge'> = (draft, report) => {
  const { task } = draft;
  if (isFinished(draft) && report.fence.agent === task.executor.id) throw stale(task, report.fence); // too late to start
  if (checkFence(draft, report) === nothing) return nothing;
  const { deliveryState: state, delivery: number } = task;
  if (state === 'ACKED' || state === 'WORKING') {
    if (report.n === undefined) return nothing;
    // Not needed any more, but counted: the next report has the next n.
    log(draft, task.executor.name, {
      kind: 'DELIVERY',
      from: state,
      to: state,
      payload: { number, detail: 'acknowledged' },
    });
    return undefined;
  }
  advance(draft, task.executor.name, 'ACKED');
  task.isAcknowledged = true;
  clearDeadline(draft, 'TTL');
  return undefined;
};

const progress: Rule<'progress'> = (draft, report) => {
  if (checkFence(draft, report) === nothing) return nothing;
  const { task } = draft;
  const wasWorking = task.state === 'WORKING';
  const { text } = report;
  if (text !== undefined) task.turn = { text, before: task.turn };
  startWork(draft, text);
  if (wasWorking) move(draft, task.executor.name, 'WORKING', text === undefined ? {} : { text });
  return undefined;
};

const artifact: Rule<'artifact'> = (draft, report) => {
  if (checkFence(draft, report) === nothing) return nothing;
  startWork(draft);
  log(draft, draft.task.executor.name, { kind: 'ARTIFACT', from: null, to: null, payload: report.chunk });
  return undefined;
};

const sayMore: Rule<'say'> = (draft, report) => {
  if (checkFence(draft, report) === nothing) return nothing;
  say(draft, report.message);
  return undefined;
};

const ask: Rule<'ask'> = (draft, report, clock) => {
  if (checkFence(draft, report) === nothing) return nothing;
  const { task } = draft;
  const { name } = task.executor;
  startWork(draft);
  const message = closeTurn(draft, report.message, clock);
  if (report.state === 'INPUT_REQUIRED')
    endDelivery(draft, name, { outcome: { outcome: 'INTERRUPTED' }, keepsPlace: false }, clock);
  else clearDeadline(draft, 'TURN'); // who waits for an authorization keeps the delivery and the place
  setDeadline(draft, 'INPUT', clock.inputSeconds);
  move(draft, name, report.state, { ...message, ...(report.text !== undefined && { text: report.text }) });
  return undefined;
};

const complete: Rule<'complete'> = (draft, report, clock) => finish(draft, 'COMPLETED', report, clock);
const fail: Rule<'fail'> = (draft, report, clock) => finish(draft, 'FAILED', report, clock);
const reject: Rule<'reject'> = (draft, report, clock) => finish(draft, 'REJECTED', report, clock);
const stop: Rule<'stop'> = (draft, report, clock) => finish(draft, 'CANCELED', report, clock);

type Final = Fenced & { reason?: string; message?: Message; usage?: unknown };

const finish = (draft: Draft, to: TaskState & DeliveryOutcome, report: Final, clock: Clock) => {
  const { task } = draft;
  // The report that ended the task, once more: it gets its first answer again.
  if (
    isFinished(draft) &&
    task.delivery === report.fence.delivery &&
    task.state === to &&
    task.executor.id === report.fence.agent
  )
    return nothing;
  if (checkFence(draft, report) === nothing) return nothing;
  const { name } = task.executor;
  if (to === 'COMPLETED' || (to === 'CANCELED' && task.state === 'SUBMITTED')) startWork(draft);
  const message = closeTurn(draft, report.message, clock);
  endDelivery(draft, name, { outcome: { outcome: to }, keepsPlace: false }, clock);
  clearDeadline(draft, 'INPUT');
  settle(draft, to === 'COMPLETED' ? 'CAPTURED' : 'RELEASED');
  draft.changes.push({ kind: 'result', text: report.message ? textOf(report.message) : null });
  if (report.usage !== undefined) draft.changes.push({ kind: 'usage', usage: report.usage });
  move(draft, name, to, { ...(report.reason && { reason: report.reason }), ...message });
  return undefined;
};

/** Throws for a stranger, a former holder or a finished task; `nothing` for a report that was stored already. */
const checkFence = ({ task }: Draft, { fence, n }: Fenced): undefined | typeof nothing => {
  if (fence.agent !== task.executor.id) throw new DomainError('NOT_FOUND', `There is no task ${task.id}`);
  const isFinal = isTerminal(task.state);
  const isOthers = fence.holder !== undefined && fence.holder !== task.holder && !isFinal;
  if (fence.delivery !== task.delivery || isOthers) throw stale(task, fence);
  const facts = { taskId: task.id, state: task.state };
  if (isFinal) throw new DomainError('ILLEGAL_TRANSITION', `Task ${task.id} is ${task.state} already`, facts);
  if (task.deliveryState === 'ENDED' || task.deliveryState === 'QUEUED') throw stale(task, fence);
  if (n === undefined) return undefined;
  if (n <= task.lastN) return nothing;
  if (n > task.lastN + 1)
    throw new DomainError('BAD_INPUT', `Report ${n} of task ${task.id} comes before report ${task.lastN + 1}`, {
      ...facts,
      expected: task.lastN + 1,
      actual: n,
    });
  task.lastN = n;
  return undefined;
};

const stale = ({ id, state, delivery }: TaskHead, fence: Fence): DomainError =>
  new DomainError('STALE_DELIVERY', `Delivery ${fence.delivery} of task ${id} is not yours, or no longer`, {
    taskId: id,
    state,
    expected: delivery,
    actual: fence.delivery,
  });

/** A report that shows work moves delivery and task to WORKING first. */
const startWork = (draft: Draft, text?: string): void => {
  const { task } = draft;
  if (task.deliveryState !== 'WORKING') {
    advance(draft, task.executor.name, 'WORKING');
    task.isAcknowledged = true;
    clearDeadline(draft, 'TTL');
  }
  if (task.state === 'WORKING') return;
  clearDeadline(draft, 'INPUT');
  if (task.state === 'AUTH_REQUIRED') setDeadline(draft, 'TURN', task.timeoutSeconds ?? task.executor.turnSeconds);
  move(draft, task.executor.name, 'WORKING', text === undefined ? {} : { text });
};

/** The turn's entry in the ledger: the agent's message, else its status texts joined. */
const closeTurn = (draft: Draft, message: Message | undefined, { newId }: Clock): { messageId?: string } => {
  const { task } = draft;
  const text = textOfTurn(task.turn);
  task.turn = null;
  task.turnSeq = task.seq;
  const entry = message ?? (text ? spokenBy({ name: task.executor.name, newId }, [{ text }]) : undefined);
  if (!entry) return {};
  say(draft, entry);
  return { messageId: entry.id };
};

export const working = { acknowledge, progress, artifact, say: sayMore, ask, complete, fail, reject, stop };
