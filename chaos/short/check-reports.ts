import type { Counters, Report } from '../core/checker.ts';
import type { History } from '../core/history.ts';
import type { Deed, Holders } from './files.ts';
import { readText } from './script.ts';

// Of agents' reports: acknowledged ⊆ stored ⊆ attempted. A report is known by its delivery and number, and by the connection
// that brought it.

export const checkReports = (history: History, deeds: Deed[], holders: Holders, report: Report): Counters => {
  const stored = new Map<string, number>(); // delivery and number -> connection
  for (const { id, events } of history.values())
    for (const { kind, payload } of events) {
      const text = kind === 'MESSAGE' ? payload.message?.parts[0]?.text : (payload.parts?.[0]?.text ?? payload.text);
      const said = readText(text);
      if (said && !said.isLate) stored.set(`${id}:${said.delivery}:${said.n}`, said.connection);
    }
  const counters = { reports: 0, reportsUnknown: 0, zombiesRefused: 0 };
  const attempts = new Map<string, Deed[]>();
  for (const deed of deeds) {
    if (deed.kind !== 'report') continue;
    counters.reports += 1;
    if (deed.told === undefined || deed.told.at === 'unknown') counters.reportsUnknown += 1;
    if (deed.told?.at === 'fail' && deed.told.code === 'STALE_DELIVERY') counters.zombiesRefused += 1;
    const name = `${deed.task}:${deed.delivery}:${deed.n}`;
    attempts.set(name, [...(attempts.get(name) ?? []), deed]);
    if (deed.told?.at === 'ok' && !stored.has(name))
      report('lost', `${deed.what} ${name} was told ok and is not stored`);
  }
  for (const [name, connection] of stored) {
    const own = attempts.get(name)?.filter((deed) => deed.connection === connection) ?? [];
    if (own.length === 0) report('never attempted', `${name} over connection ${connection}`);
    else if (own.every(({ told }) => told?.at === 'fail'))
      report('refused, stored', `${name} over connection ${connection}`);
  }
  for (const [name, resumed] of holders.resumed)
    for (const { lastN } of resumed)
      if (lastN > 0 && !stored.has(`${name}:${lastN}`)) report('lost', `${name}: told that report ${lastN} is stored`);
  return counters;
};
