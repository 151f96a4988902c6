import type { Counters, Report } from './checker.ts';
import type { Event, History, Task } from './history.ts';
import { chunkText, scriptOf } from './script.ts';

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
const advances: Record<string, string[]> = {
  QUEUED: ['DELIVERED', 'ACKED', 'WORKING', 'ENDED'],
  DELIVERED: ['ACKED', 'WORKING', 'ENDED'],
  ACKED: ['WORKING', 'ENDED'],
  WORKING: ['ENDED'],
  ENDED: [],
};
export const isTerminal = (state: string): boolean =>
  ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED'].includes(state);

export const checkTasks = (history: History, report: Report): Counters => {
  const counters = { tasks: history.size, events: 0, chunks: 0, takeOvers: 0, handedOn: 0, completed: 0 };
  for (const task of history.values()) {
    checkNumbers(task, report);
    checkStates(task, report);
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

const checkNumbers = ({ key, events, lastSeq }: Task, report: Report): void => {
  events.forEach(({ seq, xid }, index) => {
    if (seq !== index + 1) report('seq', `${key}: line ${index + 1} has seq ${seq}`);
    if (xid === null) report('feed', `${key}: seq ${seq} is in no line of the feed`);
  });
  if (lastSeq !== events.length) report('seq', `${key}: last_seq is ${lastSeq}, the log has ${events.length} lines`);
};

const checkStates = ({ key, events, state, run }: Task, report: Report): void => {
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

/** The delivery in force while a log is read from its beginning. */
export const followDelivery = () => {
  const current = { number: 0, state: 'ENDED', isLost: false };
  const see = ({ kind, to, payload }: Event): void => {
    if (kind !== 'DELIVERY') return;
    if (payload.number !== current.number) current.isLost = false;
    if (payload.detail === 'connection lost') current.isLost = true;
    if (payload.detail === 'resumed') current.isLost = false;
    current.number = payload.number ?? 0;
    current.state = to ?? '';
  };
  return { current, see };
};

const checkDeliveries = (task: Task, report: Report): void => {
  const { key, events, deliveries } = task;
  const { current, see } = followDelivery();
  const outcomes = new Map<number, string | undefined>();
  for (const event of events) {
    const { seq, kind, from, to, payload } = event;
    const said = kind === 'ARTIFACT' ? payload.parts?.[0]?.text?.split(':') : undefined;
    const told = kind === 'STATUS' && payload.text ? ['', payload.text.slice(1).split(':')[0]] : undefined;
    const number = said?.[1] ?? told?.[1];
    if (number !== undefined) {
      const isForeign = Number(number) !== current.number || (said && said[0] !== key);
      const where = `${key}: seq ${seq} is of delivery ${number}; delivery ${current.number} is ${current.state}`;
      if (isForeign || current.isLost || ['QUEUED', 'ENDED'].includes(current.state))
        report('fence', `${where}${current.isLost ? ', its holder lost' : ''}`);
    }
    if (kind === 'DELIVERY') {
      const isNew = from === null;
      const isRight = isNew
        ? to === 'QUEUED' && payload.number === current.number + 1 && current.state === 'ENDED'
        : payload.number === current.number &&
          from === current.state &&
          (payload.detail !== undefined ? from === to : advances[from]?.includes(to ?? ''));
      if (!isRight)
        report(
          'delivery chain',
          `${key}: seq ${seq}, ${payload.number} ${from}→${to} after ${current.number} ${current.state}`,
        );
      if (to === 'ENDED') outcomes.set(payload.number ?? 0, payload.outcome);
    }
    const isForgotten = kind === 'STATUS' && payload.reason === 'TIMEOUT' && !current.isLost;
    if (isForgotten && scriptOf(key).ending !== 'hang')
      report(
        'orphan',
        `${key}: delivery ${current.number} timed out at seq ${seq}; nobody noticed that its holder died`,
      );
    see(event);
  }
  if (task.delivery !== current.number || task.deliveryState !== current.state)
    report('delivery chain', `${key}: the row says ${task.delivery} ${task.deliveryState}`);
  for (let number = 1; number <= current.number; number += 1) {
    const row = deliveries.get(number);
    const state = number === current.number ? current.state : 'ENDED';
    if (row?.state !== state || (row.outcome ?? undefined) !== outcomes.get(number))
      report('delivery chain', `${key}: delivery ${number} is ${row?.state} ${row?.outcome}, not ${state}`);
  }
};

/** What is stored of each delivery is a beginning of what its script sends; of a completed one, all of it. */
const checkOutput = ({ key, events, artifact }: Task, report: Report): void => {
  const { chunks, ending } = scriptOf(key);
  const { current, see } = followDelivery();
  let next = 0;
  let texts = '';
  let expected: { size: number; lastSeq: number; complete: boolean } | undefined;
  for (const event of events) {
    const { seq, kind, from, to, payload } = event;
    see(event);
    if (kind === 'DELIVERY' && to === 'QUEUED') {
      next = 0;
      texts = '';
    }
    if (kind === 'STATUS' && to === 'SUBMITTED') expected = undefined;
    if (kind === 'STATUS' && to === 'WORKING') texts += payload.text ?? '';
    if (kind === 'ARTIFACT') {
      const text = payload.parts?.[0]?.text ?? '';
      const right = chunkText(key, current.number, next);
      if (text !== right) report('chunks', `${key}: seq ${seq} is ${text}, not chunk ${next} of ${current.number}`);
      next += 1;
      const size = (payload.append ? (expected?.size ?? 0) : 0) + text.length;
      expected = { size, lastSeq: seq, complete: payload.lastChunk === true };
    }
    if (kind === 'MESSAGE' && payload.message?.author === 'AGENT') {
      const text = payload.message.parts.map((part) => part.text).join('');
      if (text !== texts) report('turn text', `${key}: the turn's message is ${text}, its texts were ${texts}`);
    }
    if (kind === 'STATUS' && to === 'COMPLETED' && (ending !== 'complete' || next !== chunks))
      report('outcome', `${key}: completed from ${from} with ${next} of ${chunks} chunks; the script says ${ending}`);
    if (kind === 'STATUS' && payload.reason === 'SCRIPTED' && (ending !== 'fail' || next !== chunks))
      report('outcome', `${key}: failed with ${next} of ${chunks} chunks; the script says ${ending}`);
  }
  if (JSON.stringify(artifact) !== JSON.stringify(expected))
    report('artifact', `${key}: row ${JSON.stringify(artifact)}, log ${JSON.stringify(expected)}`);
};
