import { findHubLoss } from './lifecycle/check.ts';
import type { FanoutPlan } from './load/told.ts';
import type { Answered, Asked } from './run.ts';
import { type Actor, openStage, type ServerName } from './stage.ts';
import { ratios, spread } from './statistics.ts';
import { formatNumber, formatSpread, formatTable } from './table.ts';

// What does it cost the server to deliver one event to one subscriber? To a thousand of one task, and to one each of a thousand.
// The hub also commits every event, which the others do not.

const subscribers = 1_000;
const rounds = 7;
const lastRoundBeginsMs = 215_000;

const sides: { name: ServerName; label: string }[] = [
  { name: 'ours', label: 'the hub, durable' },
  { name: 'stock', label: 'Yoga + graphql-ws, in memory' },
  { name: 'raw', label: 'bare ws, one buffer for all' },
];

const sections: { label: string; plan: FanoutPlan }[] = [
  { label: `1 task, ${subscribers} subscribers`, plan: { subscribers, tasks: 1, forMs: 2_000, window: 8 } },
  {
    label: `${subscribers} tasks, 1 subscriber each`,
    plan: { subscribers, tasks: subscribers, forMs: 2_000, window: 8 },
  },
];

type Round = { serverUs: number | undefined; loadUs: number; perSecond: number };

export const fanout = async ({ say, signal }: Asked): Promise<Answered> => {
  const begun = performance.now();
  const stage = await openStage({ say, signal });
  const losses: string[] = [];
  let skipped = 0;

  const run = async (actor: Actor, what: string, plan: FanoutPlan): Promise<Round | undefined> => {
    signal.throwIfAborted();
    if (performance.now() - begun > lastRoundBeginsMs) {
      skipped += 1;
      return undefined;
    }
    const { measured, serverUs, written, problems } = await actor.play({ kind: 'fanout', ...plan });
    const { chunks, seconds, cpuUs } = measured;
    const lost = problems[0] ?? (what.startsWith('ours') ? await findHubLoss(actor, written) : undefined);
    if (lost) losses.push(`${what}: ${lost}`);
    const round = {
      serverUs: serverUs === undefined ? undefined : serverUs / chunks,
      loadUs: cpuUs / chunks,
      perSecond: chunks / seconds,
    };
    say(
      lost
        ? `${what}: LOST ${lost}`
        : `${what}: ${formatNumber(round.serverUs ?? 0)} µs, ${formatNumber(round.perSecond)}/s`,
    );
    return lost ? undefined : round;
  };

  try {
    const actors = new Map<string, Actor>();
    for (const { name } of sides) actors.set(name, await stage.open(name, { agents: 8, contexts: subscribers }));
    const actorOf = (name: string): Actor => actors.get(name) ?? missing(name);
    const measured: { label: string; rounds: Record<string, (Round | undefined)[]> }[] = [];
    for (const { label, plan } of sections) {
      say(`warming up: ${label}`);
      for (const { name } of sides) await actorOf(name).play({ kind: 'fanout', ...plan, forMs: 1_000 });
      const section: (typeof measured)[number] = {
        label,
        rounds: Object.fromEntries(sides.map(({ name }) => [name, []])),
      };
      for (let round = 0; round < rounds; round++)
        for (const { name } of round % 2 === 0 ? sides : sides.toReversed())
          section.rounds[name]?.push(await run(actorOf(name), `${name}, ${label}`, plan));
      measured.push(section);
    }
    const lines = measured.flatMap(({ label, rounds: all }) =>
      sides.map((side) => {
        const [ours = [], its = []] = [all.ours, all[side.name]];
        const cpu = (list: (Round | undefined)[]) => list.map((round) => round?.serverUs);
        return {
          section: label,
          ...side,
          serverUs: spread(cpu(its)),
          itsToOurs: ratios(cpu(its), cpu(ours)),
          perSecond: spread(its.map((round) => round?.perSecond)),
          loadUs: spread(its.map((round) => round?.loadUs)),
        };
      }),
    );
    const rows = measured.flatMap(({ label }) => [
      [label],
      ...lines
        .filter(({ section }) => section === label)
        .map((line) => [
          `  ${line.label}`,
          String(line.serverUs?.rounds ?? 0),
          formatSpread(line.serverUs),
          line.name === 'ours' ? '' : formatSpread(line.itsToOurs),
          formatSpread(line.perSecond),
          formatSpread(line.loadUs),
        ]),
    ]);
    const table = formatTable(['', 'rounds', 'server µs', 'its CPU ÷ ours', 'deliveries/s', 'load µs'], rows);
    const remarks = [
      'µs are CPU per delivered event; medians (least–most), ratios taken round by round.',
      ...losses.map((loss) => `LOST, without a number: ${loss}`),
      ...(skipped > 0 ? [`${skipped} rounds were left out: it was late`] : []),
    ];
    return {
      table: [stage.durability, table, '', ...remarks].join('\n'),
      result: { settings: stage.settings, subscribers, lines, rounds: measured, losses, skipped },
      isSound: losses.length === 0,
    };
  } finally {
    await stage.stop();
  }
};

const missing = (name: string): never => {
  throw new Error(`${name} was not opened`);
};
