import type { Counters, Violation } from './core/checker.ts';

// A run in which too little happened proves nothing: it is inconclusive, not passed.

type Run = {
  seconds: number;
  /** Undefined: a run without faults. */
  faults: Counters | undefined;
  counters: Counters;
  violations: Violation[];
};

export type Tables = {
  /** At least so many in a run of 60 seconds. */
  floors: Record<string, number>;
  /** Those that only faults bring about. */
  ofFaults: Set<string>;
  names: Record<string, string>;
};

export const judge = ({ seconds, faults, counters, violations }: Run, { floors, ofFaults, names }: Tables): number => {
  const all: Counters = { ...faults, ...counters };
  let isEnough = true;
  console.log(`\n${'what happened'.padEnd(36)}${'count'.padStart(8)}${'floor'.padStart(8)}`);
  for (const [key, count] of Object.entries(all)) {
    const applies = floors[key] !== undefined && (faults !== undefined || !ofFaults.has(key));
    const floor = applies ? Math.ceil(((floors[key] ?? 0) * seconds) / 60) : undefined;
    const isBelow = floor !== undefined && count < floor;
    if (isBelow) isEnough = false;
    const columns = `${String(Math.round(count)).padStart(8)}${String(floor ?? '').padStart(8)}`;
    console.log(`${(names[key] ?? key).padEnd(36)}${columns}${isBelow ? '  too few' : ''}`);
  }
  console.log(`${'violations'.padEnd(36)}${String(violations.length).padStart(8)}${'0'.padStart(8)}\n`);

  for (const rule of new Set(violations.map((violation) => violation.rule))) {
    const found = violations.filter((violation) => violation.rule === rule);
    console.log(`${rule}: ${found.length}`);
    for (const { what } of found.slice(0, 5)) console.log(`  ${what}`);
  }
  if (violations.length > 0) return 1;
  console.log(isEnough ? 'passed' : 'inconclusive: too little happened');
  return isEnough ? 0 : 2;
};
