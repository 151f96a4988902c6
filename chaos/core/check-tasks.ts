import { checkChain } from './check-chain.ts';
import { checkDeliveries } from './check-deliveries.ts';
import { checkOutput } from './check-output.ts';
import type { Counters, Report } from './checker.ts';
import type { History, Task } from './history.ts';

// Each log by itself: complete, a word of the state machine, and nothing of a delivery after it was given to another.

/** Written by hand from docs/state-machine.md. */
const moves: Record<string, string[]> = {
  SUBMITTED: ['WORKING', 'REJECTED', 'EXPIRED', 'FAILED', 'CANCELED'],
  WORKING: ['COMPLETED', 'INPUT_REQUIRED', 'AUTH_REQUIRED', 'REJECTED', 'FAILED', 'CANCELED', 'SUBMITTED'],
  INPUT_REQUIRED: ['WORKING', 'FAILED', 'CANCELED', 'SUBMITTED'],
  AUTH_REQUIRED: ['WORKING', 'FAILED', 'CANCELED', 'SUBMITTED'],
  FAILED: ['SUBMITTED'],
  CANCELED: ['SUBMITTED'],
  REJECTED: ['SUBMITTED'],
  EXPIRED: ['SUBMITTED'],
  COMPLETED: [],
};
export const isTerminal = (state: string): boolean =>
  ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED'].includes(state);

export const checkTasks = (history: History, report: Report): Counters => {
  const counters = { tasks: history.size, events: 0, chunks: 0, takeOvers: 0, handedOn: 0, completed: 0 };
  for (const task of history.values()) {
    checkNumbers(task, report);
    checkStates(task, report);
    checkChain(task, report);
    checkDeliveries(task, report);
    checkOutput(task, report);
    counters.events += task.events.length;
    counters.chunks += task.events.filter(({ kind }) => kind === 'ARTIFACT').length;
    counters.takeOvers += task.events.filter(({ payload }) => payload.detail === 'connection lost').length;
    counters.handedOn += task.events.filter(({ payload }) => payload.outcome === 'LOST').length;
    if (task.state === 'COMPLETED') counters.completed += 1;
  }
  return counters;
};

export const checkNumbers = ({ key, events, lastSeq }: Task, report: Report): void => {
  events.forEach(({ seq, xid }, index) => {
    if (seq !== index + 1) report('seq', `${key}: line ${index + 1} has seq ${seq}`);
    if (xid === null) report('feed', `${key}: seq ${seq} is in no line of the feed`);
  });
  if (lastSeq !== events.length) report('seq', `${key}: last_seq is ${lastSeq}, the log has ${events.length} lines`);
};

export const checkStates = ({ key, events, state, run }: Task, report: Report): void => {
  let now: string | null = null;
  let runs = 0;
  for (const { seq, kind, from, to } of events) {
    if (kind !== 'STATUS') {
      if (now === null || isTerminal(now)) report('after the end', `${key}: ${kind} at seq ${seq}, state ${now}`);
      continue;
    }
    if (from !== now) report('state chain', `${key}: seq ${seq} goes from ${from}, the task was ${now}`);
    const isMove = now === null ? to === 'SUBMITTED' : moves[now]?.includes(to ?? '');
    const isNews = from === to && (to === 'WORKING' || to === 'SUBMITTED');
    if (!isMove && !isNews) report('state chain', `${key}: seq ${seq} goes from ${now} to ${to}`);
    if (to === 'SUBMITTED') runs += 1;
    now = to;
  }
  if (state !== now) report('state chain', `${key}: the row says ${state}, the log ${now}`);
  if (run !== runs) report('runs', `${key}: the row says run ${run}, the log has ${runs}`);
};
