import { followDelivery } from './check-chain.ts';
import { checkMoment, slackMs } from './check-moment.ts';
import { checkSaid } from './check-said.ts';
import { isTerminal } from './check-tasks.ts';
import type { Counters, Report } from './checker.ts';
import type { Deed } from './deeds.ts';
import type { Event, History, Task } from './history.ts';

// Acknowledged ⊆ stored ⊆ attempted. A deed that was told ok is in the log once, where it was told; a refused one is not;
// an unknown one is there once or not at all. And nothing is there that nobody did.

export const checkDeeds = (history: History, deeds: Deed[], report: Report): Counters => {
  const counters: Counters = {
    deeds: deeds.length,
    unknown: 0,
    errors: 0,
    refused: 0,
    zombiesRefused: 0,
    cancelsWon: 0,
    cancelsLost: 0,
    retriesWon: 0,
  };
  for (const deed of deeds) {
    const { kind, told } = deed;
    if (!told) counters.unknown = (counters.unknown ?? 0) + 1;
    const count = (name: string) => {
      counters[name] = (counters[name] ?? 0) + 1;
    };
    if (told?.at === 'error') {
      count('errors');
      report('unexpected error', `${kind} of ${deed.task}: ${told.message}`);
    }
    if (told?.at === 'fail') count('refused');
    if (told?.at === 'fail' && told.code === 'STALE_DELIVERY') count('zombiesRefused');
    if (kind === 'cancel' && told?.at === 'ok') count('cancelsWon');
    if (kind === 'cancel' && told?.at === 'fail') count('cancelsLost');
    if (kind === 'retry' && told?.at === 'ok') count('retriesWon');
    if (told?.at === 'fail' && told.state !== undefined) checkRefusal(deed, told, history.get(deed.task), report);
  }
  checkNamed(history, deeds, report);
  checkSaid(history, deeds, report);
  checkEndings(history, deeds, report);
  return counters;
};

/** A refusal names a state that the task really had while it was being asked. */
const checkRefusal = (
  { kind, ms, task: key }: Deed,
  told: { ms: number; code: string; state?: string },
  task: Task | undefined,
  report: Report,
): void => {
  if (!task) {
    report('refusal', `${kind} of ${key} was refused in ${told.state}, but there is no such task`);
    return;
  }
  const moved = task.events.filter((event) => event.kind === 'STATUS');
  const had = moved.some(({ to, committedMs }, index) => {
    const untilMs = moved[index + 1]?.committedMs ?? Number.POSITIVE_INFINITY;
    return to === told.state && committedMs - slackMs <= told.ms && untilMs + slackMs >= ms;
  });
  if (!had)
    report('refusal', `${kind} of ${key} was refused (${told.code}) because it is ${told.state}; then it never was`);
};

/** Deeds of people are named in the log; answers are known by their messages. */
const checkNamed = (history: History, deeds: Deed[], report: Report): void => {
  const named = new Map(deeds.filter(({ kind }) => firstLine[kind]).map((deed) => [deed.op, deed]));
  const found = new Map<string, { task: Task; event: Event }>();
  for (const task of history.values())
    for (const event of task.events) {
      if (event.kind !== 'STATUS' || event.payload.reason === 'ANSWERED' || !/^[0-9a-f-]{36}$/.test(event.actor))
        continue;
      const deed = named.get(event.actor);
      if (!deed || deed.task !== task.key || !firstLine[deed.kind]?.(event))
        report('never attempted', `${task.key}: seq ${event.seq} ${event.to} by ${event.actor} (${deed?.kind})`);
      if (found.has(event.actor))
        report('stored twice', `${task.key}: ${deed?.kind} ${event.actor} again at seq ${event.seq}`);
      found.set(event.actor, { task, event });
    }
  for (const deed of named.values()) {
    const { op, kind, told, task } = deed;
    const stored = found.get(op);
    if (told?.at === 'ok' && !stored) report('lost', `${kind} ${op} of ${task} was told ok and is not stored`);
    if (told?.at === 'fail' && stored) report('refused, stored', `${kind} ${op} of ${task}`);
    if (stored) checkMoment(deed, stored.event, report);
  }
};

const firstLine: Record<string, (event: Event) => boolean> = {
  create: ({ from, to }) => from === null && to === 'SUBMITTED',
  cancel: ({ to }) => to === 'CANCELED',
  retry: ({ to, payload }) => to === 'SUBMITTED' && payload.reason === 'RETRIED',
  reassign: ({ to, payload }) => to === 'SUBMITTED' && payload.reason === 'REASSIGNED',
};

/** An agent that was told that it completed or failed a task did so, in its delivery; and nobody else ends one so. */
const checkEndings = (history: History, deeds: Deed[], report: Report): void => {
  const attempted = new Set<string>();
  const ended = new Map<string, string>();
  for (const { kind, task, delivery } of deeds) attempted.add(`${kind} ${task}:${delivery}`);
  for (const task of history.values()) {
    const { current, see } = followDelivery();
    for (const event of task.events) {
      see(event);
      const { kind, to, payload, seq } = event;
      if (kind !== 'STATUS' || !to || !isTerminal(to)) continue;
      ended.set(`${task.key}:${current.number}`, to);
      const how = to === 'COMPLETED' ? 'complete' : payload.reason === 'SCRIPTED' ? 'fail' : undefined;
      if (how && !attempted.has(`${how} ${task.key}:${current.number}`))
        report('never attempted', `${task.key}: ${to} at seq ${seq} in delivery ${current.number}`);
    }
  }
  for (const { kind, task, delivery, told } of deeds) {
    if (told?.at !== 'ok' || (kind !== 'complete' && kind !== 'fail')) continue;
    const state = ended.get(`${task}:${delivery}`);
    if (state !== (kind === 'complete' ? 'COMPLETED' : 'FAILED'))
      report('lost', `${kind} of ${task}:${delivery} was told ok; it ended ${state}`);
  }
};
