import {
  type Contender,
  openA2aInMemory,
  openA2aOnPostgres,
  openLimit,
  openOurs,
  openPlain,
} from './lifecycle/contenders.ts';
import { type Round, type Section, summarize, tabulate } from './lifecycle/report.ts';
import type { LifecyclePlan } from './load/told.ts';
import type { Answered, Asked } from './run.ts';
import { openStage } from './stage.ts';
import { ratios } from './statistics.ts';
import { formatNumber, formatSpread } from './table.ts';

// A task's whole life, every event durable: created over GraphQL, done by an agent on a socket in N chunks, followed by one
// subscriber. How many chunks a second reach the subscribers, and what does one cost, beside other servers and the limit?

const inFlight = 64;
const roundMs = 2_000;
const lastRoundBeginsMs = 235_000;

type SideName = 'ours' | 'a2a-postgres' | 'a2a-memory' | 'plain' | 'limit';
const sides: { name: SideName; label: string }[] = [
  { name: 'ours', label: 'the hub' },
  { name: 'a2a-postgres', label: 'A2A SDK, its PostgreSQL store' },
  { name: 'a2a-memory', label: 'A2A SDK, in memory' },
  { name: 'plain', label: 'plain stack, Prisma' },
  { name: 'limit', label: 'bare pg loop, same batches' },
];

// The A2A SDK saves the whole task with every chunk, so 64 long tasks at once would take it minutes: it gets fewer.
// Its pool has ten connections: 16 at once were as fast as 64. In memory it never waits.
const sections = [
  { chunksPerTask: 100, fewer: { 'a2a-postgres': 16, 'a2a-memory': 32 } },
  { chunksPerTask: 10, fewer: {} },
  { chunksPerTask: 500, fewer: { 'a2a-postgres': 8, 'a2a-memory': 4 } },
] satisfies { chunksPerTask: number; fewer: Partial<Record<SideName, number>> }[];
const rounds = 7;
const long = 1_000; // ours alone, to see whether length costs
const short = 10;

export const lifecycle = async ({ say, signal }: Asked): Promise<Answered> => {
  const begun = performance.now();
  const stage = await openStage({ say, signal });
  const perFlush = new Map<number, number>(); // ours, as last seen
  const losses: string[] = [];
  let skipped = 0;
  let limit: Awaited<ReturnType<typeof openLimit>> | undefined;

  const planFor = (name: SideName, chunksPerTask: number, fewer: Partial<Record<SideName, number>>): LifecyclePlan => ({
    chunksPerTask,
    inFlight: fewer[name] ?? inFlight,
    lastBeginMs: name === 'a2a-postgres' && chunksPerTask >= 100 ? 0 : roundMs,
    window: name === 'plain' ? 2 : 50, // it writes a task's chunks one by one: what waits more only takes longer to end
    isCutShort: name === 'plain',
  });
  const run = async (contender: Contender, name: SideName, plan: LifecyclePlan): Promise<Round | undefined> => {
    signal.throwIfAborted();
    if (performance.now() - begun > lastRoundBeginsMs) {
      skipped += 1;
      return undefined;
    }
    const { round, lost, perFlush: taken } = await contender(plan);
    if (taken !== undefined) perFlush.set(plan.chunksPerTask, taken);
    const what = `N=${plan.chunksPerTask}  ${name}`;
    if (lost) losses.push(`${what}: ${lost}`);
    say(lost ? `${what}: LOST ${lost}` : `${what}: ${formatNumber(round.chunksPerSecond)} chunks/s`);
    return lost ? undefined : round;
  };

  try {
    limit = await openLimit(stage, { inFlight, perFlush: (length) => perFlush.get(length) ?? 512 });
    const contenders: Record<SideName, Contender> = {
      ours: await openOurs(stage),
      'a2a-postgres': await openA2aOnPostgres(stage),
      'a2a-memory': await openA2aInMemory(stage),
      plain: await openPlain(stage),
      limit: limit.run,
    };
    say('warming up');
    for (const { name } of sides)
      await contenders[name]({ ...planFor(name, 100, sections[0]?.fewer ?? {}), lastBeginMs: roundMs / 2 });
    await stage.settle();

    const measured: Section[] = sections.map(({ chunksPerTask, fewer }) => ({
      chunksPerTask,
      rounds: Object.fromEntries(sides.map(({ name }) => [name, []])),
      inFlight: Object.fromEntries(sides.map(({ name }) => [name, planFor(name, chunksPerTask, fewer).inFlight])),
    }));
    // All lengths in turn, so that none goes without when it gets late.
    const longest: (Round | undefined)[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const [index, { chunksPerTask, fewer }] of sections.entries())
        for (const { name } of round % 2 === 0 ? sides : sides.toReversed())
          measured[index]?.rounds[name]?.push(await run(contenders[name], name, planFor(name, chunksPerTask, fewer)));
      longest.push(await run(contenders.ours, 'ours', planFor('ours', long, {})));
    }
    const rateOf = (all: (Round | undefined)[] = []) => all.map((round) => round?.chunksPerSecond);
    const flatness = ratios(
      rateOf(longest),
      rateOf(measured.find(({ chunksPerTask }) => chunksPerTask === short)?.rounds.ours),
    );

    const summary = summarize(sides, measured);
    const remarks = [
      `flatness of the hub, chunks/s at N=${long} ÷ at N=${short}: ${formatSpread(flatness)} in ${flatness?.rounds ?? 0} rounds`,
      'Medians (least–most); ratios are taken round by round, then their median. µs are CPU per chunk.',
      'The plain stack ends with its round: its chunks/s are commands/s × N ÷ (N + 2), as if all tasks were whole.',
      ...losses.map((loss) => `LOST, without a number: ${loss}`),
      ...(skipped > 0 ? [`${skipped} rounds were left out: it was late`] : []),
    ];
    return {
      table: [stage.durability, tabulate(summary), '', ...remarks].join('\n'),
      result: {
        settings: stage.settings,
        roundMs,
        summary,
        flatness,
        rounds: measured,
        longest,
        losses,
        skipped,
      },
      isSound: losses.length === 0,
    };
  } finally {
    await limit?.stop();
    await stage.stop();
  }
};
