import type { Counters, Report } from './checker.ts';
import type { Deed } from './deeds.ts';
import type { Event, History, Task } from './history.ts';

// A delivery belongs to one connection at a time, and only that one reports. The log does not say which connection it is;
// the files of those who took and resumed do.

export const checkHolders = (history: History, deeds: Deed[], report: Report): Counters => {
  const counters = { resumesWon: 0, resumesLost: 0, formerRefused: 0 };
  const byTask = new Map<string, Deed[]>();
  for (const deed of deeds) {
    const others = byTask.get(deed.task) ?? [];
    others.push(deed);
    byTask.set(deed.task, others);
  }
  for (const task of history.values()) checkTask(task, byTask.get(task.key) ?? [], report);
  for (const { kind, told, text } of deeds) {
    if (kind === 'resume' && told?.at === 'ok') counters.resumesWon += 1;
    if (kind === 'resume' && told?.at === 'fail') counters.resumesLost += 1;
    if (kind === 'progress' && text?.includes('late') && told?.at === 'fail') counters.formerRefused += 1;
  }
  return counters;
};

const checkTask = ({ key, events }: Task, deeds: Deed[], report: Report): void => {
  let holders = new Set<string>();
  let number = 0;
  for (const event of events) {
    const { seq, kind, from, to, payload } = event;
    const reports = deeds.filter((deed) => isReportOf(deed, event, number));
    if (reports.length > 0 && !reports.some(({ holder = '' }) => holders.has(holder)))
      report('holder', `${key}: ${reports[0]?.kind} of delivery ${number} at seq ${seq} is of a former holder`);
    if (kind !== 'DELIVERY') continue;
    number = payload.number ?? 0;
    const isTaken = from === 'QUEUED' && to === 'DELIVERED';
    if (isTaken || payload.detail === 'resumed') {
      const kinds = isTaken ? ['take', 'create'] : ['resume'];
      holders = holdersAt(
        seq,
        deeds.filter((deed) => kinds.includes(deed.kind)),
      );
      if (holders.size === 0) report('never attempted', `${key}: nobody took delivery ${number} at seq ${seq}`);
    }
    // The question that ends a delivery, and its other ends, are told after the end: the holder stays known.
    if (payload.detail === 'connection lost' || to === 'QUEUED') holders = new Set();
  }
  const resumed = new Set(events.filter(({ payload }) => payload.detail === 'resumed').map(({ seq }) => seq));
  for (const { kind, told } of deeds)
    if (kind === 'resume' && told?.at === 'ok' && !resumed.has(told.seq))
      report('lost', `${key}: a resume was told ok at seq ${told.seq} and is not there`);
};

/** Who was told that it has the delivery since this line; if nobody was, any who got no answer. */
const holdersAt = (seq: number, deeds: Deed[]): Set<string> => {
  const told = deeds.filter(
    (deed) => deed.told?.at === 'ok' && deed.told.seq === seq && deed.told.holder === deed.holder,
  );
  const found = told.length > 0 ? told : deeds.filter((deed) => deed.told?.at !== 'ok' && deed.told?.at !== 'fail');
  return new Set(found.flatMap(({ holder }) => holder ?? []));
};

/** Whether this line may be what the report left. */
const isReportOf = (deed: Deed, { kind, from, to, payload }: Event, number: number): boolean => {
  if (deed.text !== undefined && deed.kind !== 'followUp')
    return deed.text === (kind === 'ARTIFACT' ? payload.parts?.[0]?.text : payload.text);
  if (deed.delivery !== number) return false;
  if (deed.kind === 'acknowledge') return kind === 'DELIVERY' && from === 'DELIVERED' && to === 'ACKED';
  if (deed.kind === 'complete') return kind === 'STATUS' && to === 'COMPLETED';
  return deed.kind === 'fail' && kind === 'STATUS' && payload.reason === 'SCRIPTED';
};
