import { join } from 'node:path';
import { type Bundle, bundle, type Child, expectOf, startChild } from './child.ts';
import { type BenchDatabase, startDatabase } from './database.ts';
import { layGround } from './ground.ts';
import type { Answered, Asked } from './run.ts';
import { formatNumber } from './table.ts';
import { findLoss } from './writer/check.ts';
import type { ContenderName, Heard, Measured, Plan, Told } from './writer/contender.ts';
import { type Flat, type Round, type Section, type Side, summarize, tabulate } from './writer/report.ts';
import { plainTable } from './writer/unnest.ts';

// How many chunks per second does the writer commit, and what does one cost, beside the ways it could have been written?

const tasksInFlight = 64;
const roundMs = 2_000;
const lastRoundBeginsMs = 168_000;

type Entrant = Side & { contender: ContenderName; processes: number };

const ours: Entrant = { name: 'ours', label: 'writer, 1 process', contender: 'ours', processes: 1 };
const sides: Entrant[] = [
  ours,
  { name: 'ours2', label: 'writer, 2 processes', contender: 'ours', processes: 2 },
  { name: 'prisma', label: 'Prisma, nested writes', contender: 'prisma', processes: 1 },
  { name: 'statement', label: 'pg, a statement per event', contender: 'statement', processes: 1 },
  { name: 'unnest', label: 'pg, bare unnest of 64 rows', contender: 'unnest', processes: 1 },
];

const sections = [
  { chunksPerTask: 100, rounds: 5 },
  { chunksPerTask: 10, rounds: 2 },
  { chunksPerTask: 500, rounds: 2 },
  { chunksPerTask: 1_000, rounds: 2 },
];
const flatness = { lengths: [10, 100, 1_000], rounds: 3 };

export const writer = async ({ say, signal }: Asked): Promise<Answered> => {
  const begun = performance.now();
  const bench = await setUp(signal);
  const isLate = () => performance.now() - begun > lastRoundBeginsMs;
  const losses: string[] = [];
  let skipped = 0;

  const run = async (side: Entrant, chunksPerTask: number): Promise<Round | undefined> => {
    signal.throwIfAborted();
    if (isLate()) {
      skipped += 1;
      return undefined;
    }
    const { lost, ...round } = await bench.round(side.name, { chunksPerTask, lastBeginMs: roundMs });
    const what = `N=${chunksPerTask}  ${side.label}`;
    if (lost) losses.push(`${what}: ${lost}`);
    say(lost ? `${what}: LOST ${lost}` : `${what}: ${formatNumber(round.chunksPerSecond)} chunks/s`);
    return lost ? undefined : round;
  };

  try {
    const { version, fsync, synchronousCommit } = bench.settings;
    const durability = `PostgreSQL ${version}, fsync ${fsync}, synchronous_commit ${synchronousCommit}`;
    say(`${durability}; ${tasksInFlight} tasks in flight`);
    if (fsync !== 'on' || synchronousCommit !== 'on') throw new Error(`Not durable: ${durability}`);
    for (const side of sides) await bench.round(side.name, { chunksPerTask: 100, lastBeginMs: roundMs / 2 });
    await bench.settle();

    const measured: Section[] = [];
    for (const { chunksPerTask, rounds } of sections) {
      const section: Section = { chunksPerTask, rounds: Object.fromEntries(sides.map(({ name }) => [name, []])) };
      for (let round = 0; round < rounds; round++)
        for (const side of round % 2 === 0 ? sides : sides.toReversed())
          section.rounds[side.name]?.push(await run(side, chunksPerTask));
      measured.push(section);
    }
    const flat: Flat = flatness.lengths.map((chunksPerTask) => ({ chunksPerTask, rounds: [] }));
    for (let round = 0; round < flatness.rounds; round++)
      for (const { chunksPerTask, rounds } of round % 2 === 0 ? flat : flat.toReversed())
        rounds.push(await run(ours, chunksPerTask));

    const summary = summarize({ sides, sections: measured, flat });
    const remarks = [
      ...losses.map((loss) => `LOST, without a number: ${loss}`),
      ...(skipped > 0 ? [`${skipped} rounds were left out: it was late`] : []),
    ];
    return {
      table: [`${durability}; ${tasksInFlight} tasks in flight`, tabulate(summary), ...remarks].join('\n'),
      result: { settings: bench.settings, tasksInFlight, roundMs, summary, rounds: measured, flat, losses, skipped },
      isSound: losses.length === 0,
    };
  } finally {
    await bench.stop();
  }
};

/** The database, what stands in it before, and a fresh process for each contender, idle while the others run. */
const setUp = async (signal: AbortSignal) => {
  const database = await startDatabase(signal);
  const processes = new Map<string, Child<Told, Heard>[]>();
  let code: Bundle | undefined;
  const stop = async () => {
    await Promise.all([...processes.values()].flat().map((child) => child.stop()));
    await code?.remove();
    await database.stop();
  };
  try {
    code = await bundle(join(import.meta.dirname, 'writer', 'main.ts'));
    await database.query(plainTable);
    const ground = await layGround(database, tasksInFlight);
    for (const { name, contender, processes: count } of sides) {
      const children: Child<Told, Heard>[] = [];
      processes.set(name, children);
      for (let index = 0; index < count; index++) {
        const child = startChild<Told, Heard>(code.file);
        children.push(child);
        const contexts = ground.contexts.filter((_, slot) => slot % count === index);
        child.tell({ kind: 'open', contender, url: database.url, ground: { ...ground, contexts } });
        await expectOf(child, 'opened');
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    settings: database.settings,
    round: (name: string, plan: Plan) => runRound(database, processes.get(name) ?? [], plan, name === 'unnest'),
    /** Plans made on empty tables are made again, as on a hub that has run for a while. */
    settle: () => database.query('vacuum analyze'),
    stop,
  };
};

const runRound = async (
  database: BenchDatabase,
  children: Child<Told, Heard>[],
  plan: Plan,
  isPlain: boolean,
): Promise<Round & { lost: string | undefined }> => {
  const before = database.cpuUs();
  for (const child of children) child.tell({ kind: 'round', plan });
  const measured = await Promise.all(children.map(async (child) => (await expectOf(child, 'measured')).measured));
  const after = database.cpuUs();
  const written = await Promise.all(children.map(async (child) => (await expectOf(child, 'done')).written));
  const sum = (field: keyof Measured) => measured.reduce((total, each) => total + each[field], 0);
  const chunks = sum('chunks');
  return {
    chunksPerSecond: chunks / Math.max(...measured.map(({ seconds }) => seconds)),
    nodeUs: sum('cpuUs') / chunks,
    ...(before !== undefined && after !== undefined && { postgresUs: (after - before) / chunks }),
    chunksPerCommit: chunks / sum('commits'),
    missedGroups: sum('missedGroups'),
    lost: await findLoss(database, written.flat(), isPlain),
  };
};
