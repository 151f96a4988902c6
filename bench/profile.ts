import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findHubLoss } from './lifecycle/check.ts';
import { byRoom, type CpuProfile, hottest } from './profile/hottest.ts';
import type { Answered, Asked } from './run.ts';
import { openStage } from './stage.ts';
import { formatNumber, formatTable } from './table.ts';

// Where does the hub's own CPU go in a task's life? Writes bench/results/lifecycle.cpuprofile, for the developer tools of a
// browser or speedscope, and prints the functions that cost most by themselves.

const plan = { chunksPerTask: 100, inFlight: 64, lastBeginMs: 2_000, window: 50, isCutShort: false };
const rounds = 4;
const shown = 30;

export const profile = async ({ say, signal }: Asked): Promise<Answered> => {
  const results = join(import.meta.dirname, 'results');
  const directory = join(results, 'profiling');
  const file = join(results, 'lifecycle.cpuprofile');
  await rm(directory, { recursive: true, force: true });
  const stage = await openStage({ say, signal });
  const losses: string[] = [];
  let chunks = 0;
  try {
    const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${directory}`, '--cpu-prof-interval=500'];
    const actor = await stage.open('ours', { agents: 8, contexts: 256, nodeOptions });
    for (let round = 0; round < rounds; round++) {
      const { measured, written, problems } = await actor.play({ kind: 'lifecycle', ...plan });
      const lost = problems[0] ?? (await findHubLoss(actor, written));
      if (lost) losses.push(lost);
      chunks += measured.chunks;
      say(`${formatNumber(measured.chunks / measured.seconds)} chunks/s under the profiler`);
    }
  } finally {
    await stage.stop(); // the profile is written when the hub ends
  }
  const [made] = await readdir(directory);
  if (made === undefined) throw new Error('The hub wrote no profile');
  await rename(join(directory, made), file);
  await rm(directory, { recursive: true });

  const taken = JSON.parse(await readFile(file, 'utf8')) as CpuProfile;
  const all = await hottest(taken);
  const rooms = await byRoom(taken);
  const cost = (selfUs: number) => [
    formatNumber(selfUs / 1_000),
    `${((100 * selfUs) / all.busyUs).toFixed(1)} %`,
    formatNumber(selfUs / chunks),
  ];
  const units = ['self ms', 'of busy', 'µs/chunk'];
  const table = formatTable(
    ['function', ...units],
    all.functions.slice(0, shown).map(({ name, at, selfUs }) => [`${name}  ${at}`, ...cost(selfUs)]),
  );
  const roomTable = formatTable(
    ['where', ...units],
    rooms.slice(0, 20).map(({ room, selfUs }) => [room, ...cost(selfUs)]),
  );
  return {
    table: [
      stage.durability,
      table,
      '',
      roomTable,
      '',
      `${formatNumber(all.busyUs / 1_000)} ms busy, start and warm-up included, for ${formatNumber(chunks)} chunks; load ${file} to see the flame graph`,
      ...losses.map((loss) => `LOST: ${loss}`),
    ].join('\n'),
    result: {
      settings: stage.settings,
      chunks,
      busyUs: all.busyUs,
      rooms,
      functions: all.functions.slice(0, 100),
      losses,
    },
    isSound: losses.length === 0,
  };
};
