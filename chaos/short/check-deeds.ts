import type { Counters, Report } from '../core/checker.ts';
import type { Event, History, Task } from '../core/history.ts';
import type { Deed } from './files.ts';

// Of what people did: acknowledged ⊆ stored ⊆ attempted; an unknown deed had no effect or one; and what they were told about
// a task was so.

const slackMs = 1_500; // a commit is dated before it can be seen, and clocks are read by many

type Index = { byId: Map<string, Task>; messages: Map<string, { task: Task; event: Event }[]> };

export const checkDeeds = (history: History, deeds: Deed[], report: Report): Counters => {
  const index = indexOf(history);
  const counters: Counters = {
    sends: 0,
    sentAgain: 0,
    unknown: 0,
    cancelsWon: 0,
    cancelsLost: 0,
    retriesWon: 0,
    answers: 0,
  };
  const count = (name: string): void => {
    counters[name] = (counters[name] ?? 0) + 1;
  };
  for (const deed of deeds) {
    if (deed.kind === 'report' || deed.kind === 'late' || deed.kind === 'foreign') continue;
    if (!deed.told || deed.told.at === 'unknown') count('unknown');
    if (deed.told?.at === 'ok') checkTold(deed, deed.told, index, report);
    if (deed.kind === 'cancel' && deed.told?.at === 'ok') count('cancelsWon');
    if (deed.kind === 'cancel' && deed.told?.at === 'fail') count('cancelsLost');
    if (deed.kind === 'retry' && deed.told?.at === 'ok') count('retriesWon');
  }
  for (const attempts of grouped(
    deeds.filter(({ message }) => message !== undefined),
    ({ message }) => message ?? '',
  )) {
    count(attempts[0]?.kind === 'send' ? 'sends' : 'answers');
    if (attempts.length > 1) count('sentAgain');
    checkMessage(attempts, index, report);
  }
  checkUnasked(index, deeds, report);
  checkCancels(history, deeds, report);
  checkRetries(index, deeds, report);
  return counters;
};

/** The state that somebody was told is the one that the log has at the seq they were told, and it was the latest. */
const checkTold = (deed: Deed, told: Extract<Deed['told'], { at: 'ok' }>, { byId }: Index, report: Report): void => {
  const task = byId.get(told.task ?? '');
  const what = `${deed.kind} of ${told.task} was told ${told.state} at seq ${told.seq}`;
  if (!task || told.seq === undefined) {
    report('lost', `${what}, and there is no such task`);
    return;
  }
  const state = task.events.findLast(({ kind, seq }) => kind === 'STATUS' && seq <= (told.seq ?? 0))?.to;
  if (state !== told.state || told.seq > task.lastSeq)
    report('told', `${what}; the log says ${state}, to ${task.lastSeq}`);
  const next = task.events[told.seq];
  if (next && next.committedMs < deed.ms - slackMs)
    report('told', `${what}, ${deed.ms - next.committedMs} ms after seq ${next.seq}`);
};

/** All attempts to send one message. */
const checkMessage = (attempts: Deed[], { messages }: Index, report: Report): void => {
  const [{ kind, message = '', task } = { kind: 'send' }] = attempts;
  const stored = messages.get(message) ?? [];
  const tasks = new Set(attempts.flatMap(({ told }) => (told?.at === 'ok' ? (told.task ?? '') : [])));
  const name = `${kind} ${message}`;
  if (stored.length > 1) report('stored twice', `${name} in ${stored.map(({ task: { id } }) => id)}`);
  if (tasks.size > 0 && stored.length === 0) report('lost', `${name} was told ok and is not stored`);
  if (tasks.size > 1) report('idempotence', `${name} was answered with ${[...tasks]}`);
  for (const id of tasks)
    if (stored[0] && stored[0].task.id !== id)
      report('idempotence', `${name} was told ${id}, is in ${stored[0].task.id}`);
  if (task && stored[0] && stored[0].task.id !== task) report('idempotence', `${name} was meant for ${task}`);
  if (stored[0] && attempts.every(({ told }) => told?.at === 'fail')) report('refused, stored', name);
  for (const { told } of attempts)
    if (told?.at === 'fail' && told.code === 'IDEMPOTENCY_CONFLICT')
      report('idempotence', `${name} was taken for another message`);
  const first = Math.min(...attempts.map(({ ms }) => ms));
  if (stored[0] && stored[0].event.committedMs < first - slackMs)
    report('moment', `${name} was stored before it was sent`);
};

/** Nothing is there that nobody sent. */
const checkUnasked = ({ messages }: Index, deeds: Deed[], report: Report): void => {
  const sent = new Set(deeds.map(({ message }) => message));
  for (const [id, stored] of messages)
    if (!sent.has(id)) report('never attempted', `message ${id} in ${stored[0]?.task.id}`);
};

/** The text of a cancel names the deed. */
const checkCancels = (history: History, deeds: Deed[], report: Report): void => {
  const found = new Map<string, string>();
  for (const { id, events } of history.values())
    for (const { kind, to, payload, seq } of events) {
      if (kind !== 'STATUS' || to !== 'CANCELED' || payload.reason !== 'REQUESTED') continue;
      if (found.has(payload.text ?? '')) report('stored twice', `cancel ${payload.text} at seq ${seq} of ${id}`);
      found.set(payload.text ?? '', id);
    }
  const attempted = new Map(deeds.filter(({ kind }) => kind === 'cancel').map((deed) => [deed.op, deed]));
  for (const [op, id] of found) if (attempted.get(op)?.task !== id) report('never attempted', `cancel ${op} of ${id}`);
  for (const { op, task, told } of attempted.values()) {
    if (told?.at === 'ok' && !found.has(op)) report('lost', `cancel ${op} of ${task} was told ok and is not stored`);
    if (told?.at === 'fail' && found.has(op)) report('refused, stored', `cancel ${op} of ${task}: ${told.code}`);
  }
};

/** A retry leaves no name: as many as were told ok, and at most those of which nobody knows. */
const checkRetries = ({ byId }: Index, deeds: Deed[], report: Report): void => {
  const retries = new Map(
    grouped(
      deeds.filter(({ kind }) => kind === 'retry'),
      ({ task }) => task ?? '',
    ).map((all) => [all[0]?.task ?? '', all]),
  );
  for (const { id, events } of byId.values()) {
    const stored = events.filter(({ payload }) => payload.reason === 'RETRIED').length;
    const asked = retries.get(id) ?? [];
    const ok = asked.filter(({ told }) => told?.at === 'ok').length;
    const most = asked.filter(({ told }) => told?.at !== 'fail').length;
    if (stored < ok) report('lost', `${ok} retries of ${id} were told ok, ${stored} are stored`);
    if (stored > most)
      report('never attempted', `${stored} retries of ${id} are stored, at most ${most} were not refused`);
  }
};

const indexOf = (history: History): Index => {
  const index: Index = { byId: new Map(), messages: new Map() };
  for (const task of history.values()) {
    index.byId.set(task.id, task);
    for (const event of task.events) {
      const { message } = event.payload;
      if (event.kind !== 'MESSAGE' || message?.author !== 'USER') continue;
      index.messages.set(message.id, [...(index.messages.get(message.id) ?? []), { task, event }]);
    }
  }
  return index;
};

const grouped = (deeds: Deed[], by: (deed: Deed) => string): Deed[][] => {
  const groups = new Map<string, Deed[]>();
  for (const deed of deeds) {
    const group = groups.get(by(deed)) ?? [];
    group.push(deed);
    groups.set(by(deed), group);
  }
  return [...groups.values()];
};
