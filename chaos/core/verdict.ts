import type { Counters, Violation } from './checker.ts';

// A run in which too little happened proves nothing: it is inconclusive, not passed.

type Run = {
  seconds: number;
  /** Undefined: a run without faults. */
  faults: Counters | undefined;
  counters: Counters;
  violations: Violation[];
};

/** At least so many in a run of 60 seconds. */
const floors: Record<string, number> = {
  kills: 10,
  pauses: 6,
  terminations: 6,
  cuts: 8,
  crashes: 2,
  tasks: 300,
  chunks: 1_500,
  cancelsWon: 40,
  cancelsLost: 10,
  retriesWon: 20,
  takeOvers: 15,
  handedOn: 5,
  zombiesRefused: 5,
  unknown: 2,
  answered: 20,
  answersLost: 3,
  wentOn: 5,
  givenUp: 5,
  resumesWon: 12,
  formerRefused: 15,
  expired: 8,
};
const ofFaults = new Set([
  'kills',
  'pauses',
  'terminations',
  'cuts',
  'crashes',
  'takeOvers',
  'handedOn',
  'zombiesRefused',
  'unknown',
]);

const names: Record<string, string> = {
  kills: 'kill -9 of an instance',
  pauses: 'pause past the lease',
  terminations: 'all backends terminated',
  cuts: 'all connections cut, answers lost',
  crashes: 'crashes of the database',
  takeOvers: 'deliveries taken from the lost',
  handedOn: 'deliveries ended as LOST',
  zombiesRefused: 'late reports refused',
  cancelsWon: 'cancels won',
  cancelsLost: 'cancels lost',
  retriesWon: 'retries won',
  questions: 'questions asked',
  answered: 'questions answered',
  answersLost: 'answers that came second or too late',
  wentOn: 'agents that went on by themselves',
  givenUp: 'questions given up',
  resumesWon: 'deliveries resumed',
  resumesLost: 'resumes refused: too late',
  formerRefused: 'reports of former holders refused',
  unreachable: 'answered, then not acknowledged',
  unknown: 'deeds without an answer',
  errors: 'deeds answered with an error',
  deliveriesTaken: 'deliveries taken',
  drainedMs: 'ms until all was done',
};

export const judge = ({ seconds, faults, counters, violations }: Run): number => {
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
