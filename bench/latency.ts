import { findHubLoss } from './lifecycle/check.ts';
import type { LatencyPlan } from './load/told.ts';
import type { Answered, Asked } from './run.ts';
import { type Actor, openStage } from './stage.ts';
import { percentile, ratios, spread } from './statistics.ts';
import { formatNumber, formatSpread, formatTable } from './table.ts';

// How long from asking until the agent has the task, and from an agent's chunk until its subscriber has it? Open loop. Beside the
// floor, in the same round: a relay on bare `ws` that commits one row first.

const rounds = 7;
const chunksPerTask = 20;
const chunkEveryMs = 25;
const forMs = 3_000;
const modest: LatencyPlan = { tasksPerSecond: 10, chunksPerTask, chunkEveryMs, forMs }; // the floor keeps up with that
const lastRoundBeginsMs = 200_000;

type Latencies = { p50: number | undefined; p99: number | undefined };
type Round = { create: Latencies; chunk: Latencies };

export const latency = async ({ say, signal }: Asked): Promise<Answered> => {
  const begun = performance.now();
  const stage = await openStage({ say, signal });
  const losses: string[] = [];

  const run = async (actor: Actor, what: string, plan: LatencyPlan): Promise<Round | undefined> => {
    signal.throwIfAborted();
    if (performance.now() - begun > lastRoundBeginsMs) return undefined;
    const { measured, written, problems } = await actor.play({ kind: 'latency', ...plan });
    const lost = problems[0] ?? (what === 'floor' ? undefined : await findHubLoss(actor, written));
    if (lost) losses.push(`${what}: ${lost}`);
    const round = { create: latenciesOf(measured.createMs), chunk: latenciesOf(measured.chunkMs) };
    const { create, chunk } = round;
    say(
      `${what}: create p50 ${ms(create.p50)} p99 ${ms(create.p99)}, chunk p50 ${ms(chunk.p50)} p99 ${ms(chunk.p99)}${lost ? ` LOST ${lost}` : ''}`,
    );
    return lost ? undefined : round;
  };

  try {
    const ours = await stage.open('ours', { agents: 8, contexts: 256 });
    const floor = await stage.open('raw-commit', { agents: 8, contexts: 256 });
    const most = await findMost(ours);
    const half: LatencyPlan = { ...modest, tasksPerSecond: Math.max(1, Math.round(most / 2 / chunksPerTask)) };
    say(`at most ${formatNumber(most)} chunks/s; half of it is ${half.tasksPerSecond} tasks/s`);
    for (const actor of [ours, floor]) await actor.play({ kind: 'latency', ...modest });

    const all: Record<'ours' | 'floor' | 'half', (Round | undefined)[]> = { ours: [], floor: [], half: [] };
    for (let round = 0; round < rounds; round++) {
      const turns = [
        async () => all.ours.push(await run(ours, 'ours', modest)),
        async () => all.floor.push(await run(floor, 'floor', modest)),
        async () => all.half.push(await run(ours, 'ours at half its most', half)),
      ];
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
    }
    const rates = { modest: modest.tasksPerSecond, half: half.tasksPerSecond };
    const lines = (['create', 'chunk'] as const).flatMap((step) =>
      (['ours', 'half', 'floor'] as const).map((name) => {
        const of = (whose: keyof typeof all, which: keyof Latencies) => all[whose].map((round) => round?.[step][which]);
        return {
          step,
          name,
          p50: spread(of(name, 'p50')),
          p99: spread(of(name, 'p99')),
          p50ToFloor: ratios(of(name, 'p50'), of('floor', 'p50')),
          p99ToFloor: ratios(of(name, 'p99'), of('floor', 'p99')),
        };
      }),
    );
    const labels = {
      ours: `the hub, ${rates.modest} tasks/s, ${rates.modest * chunksPerTask} chunks/s`,
      half: `the hub at half its most, ${rates.half} tasks/s, ${rates.half * chunksPerTask} chunks/s`,
      floor: `one commit and one hop of bare ws, ${rates.modest} tasks/s`,
    };
    const steps = { create: 'asked → the agent has it', chunk: 'chunk → the subscriber has it' };
    const rows = (['create', 'chunk'] as const).flatMap((step) => [
      [steps[step]],
      ...lines
        .filter((line) => line.step === step)
        .map(({ name, p50, p99, p50ToFloor, p99ToFloor }) => [
          `  ${labels[name]}`,
          formatSpread(p50),
          formatSpread(p99),
          ...(name === 'floor' ? ['', ''] : [formatSpread(p50ToFloor), formatSpread(p99ToFloor)]),
        ]),
    ]);
    const table = formatTable(['', 'p50 ms', 'p99 ms', 'p50 ÷ floor', 'p99 ÷ floor'], rows);
    const remarks = [
      `Medians of ${lines[0]?.p50?.rounds ?? 0} rounds (least–most); ratios are taken round by round.`,
      ...losses.map((loss) => `LOST, without a number: ${loss}`),
    ];
    return {
      table: [stage.durability, table, '', ...remarks].join('\n'),
      result: { settings: stage.settings, rates, most, lines, rounds: all, losses },
      isSound: losses.length === 0,
    };
  } finally {
    await stage.stop();
  }
};

/** Chunks a second when everybody is as fast as can be; the first round only warms up. */
const findMost = async (actor: Actor): Promise<number> => {
  const plan = {
    kind: 'lifecycle',
    chunksPerTask: 20,
    inFlight: 64,
    lastBeginMs: 2_000,
    window: 50,
    isCutShort: false,
  } as const;
  await actor.play(plan);
  const { measured } = await actor.play(plan);
  return measured.chunks / measured.seconds;
};

const latenciesOf = (values: number[] = []): Latencies => ({
  p50: percentile(values, 0.5),
  p99: percentile(values, 0.99),
});

const ms = (value: number | undefined): string => (value === undefined ? 'none' : `${formatNumber(value)} ms`);
