import { ratios, type Spread, spread } from '../statistics.ts';
import { formatNumber, formatSpread, formatTable } from '../table.ts';

export type Side = { name: string; label: string };

export type Round = {
  chunksPerSecond: number;
  /** CPU for each chunk: of the contender's processes, and of PostgreSQL. */
  nodeUs: number;
  postgresUs?: number;
  chunksPerCommit: number;
  missedGroups: number;
};

type Rounds = (Round | undefined)[];
export type Section = { chunksPerTask: number; rounds: Record<string, Rounds> };

type Line = {
  chunksPerTask: number;
  label: string;
  isOurs: boolean;
  chunksPerSecond: Spread | undefined;
  nodeUs: Spread | undefined;
  postgresUs: Spread | undefined;
  chunksPerCommit: Spread | undefined;
  missedGroups: number;
  /** The writer with one process ÷ this one, and for CPU this one ÷ the writer: more than 1 is good for us. */
  oursToIt: Spread | undefined;
  cpuToOurs: Spread | undefined;
};
export type Summary = { lines: Line[]; flatness: { long: number; short: number; ratio: Spread | undefined }[] };

/** The writer alone, with tasks of several lengths in each round. */
export type Flat = { chunksPerTask: number; rounds: Rounds }[];

export const summarize = (all: { sides: Side[]; sections: Section[]; flat: Flat }): Summary => ({
  lines: all.sections
    .toSorted((one, other) => one.chunksPerTask - other.chunksPerTask)
    .flatMap(({ chunksPerTask, rounds }) =>
      all.sides.map(({ name, label }) => {
        const [ours = [], its = []] = [rounds.ours, rounds[name]];
        return {
          chunksPerTask,
          label,
          isOurs: name === 'ours',
          chunksPerSecond: spread(its.map(rate)),
          nodeUs: spread(its.map((round) => round?.nodeUs)),
          postgresUs: spread(its.map((round) => round?.postgresUs)),
          chunksPerCommit: spread(its.map((round) => round?.chunksPerCommit)),
          missedGroups: its.reduce((sum, round) => sum + (round?.missedGroups ?? 0), 0),
          oursToIt: ratios(ours.map(rate), its.map(rate)),
          cpuToOurs: ratios(its.map(cpu), ours.map(cpu)),
        };
      }),
    ),
  flatness: all.flat.slice(0, -1).map((short) => {
    const long = all.flat.at(-1) ?? short;
    return {
      long: long.chunksPerTask,
      short: short.chunksPerTask,
      ratio: ratios(long.rounds.map(rate), short.rounds.map(rate)),
    };
  }),
});

export const tabulate = ({ lines, flatness }: Summary): string => {
  const lengths = [...new Set(lines.map(({ chunksPerTask }) => chunksPerTask))];
  const rows = lengths.flatMap((length) => [
    [`N = ${length}`],
    ...lines.filter(({ chunksPerTask }) => chunksPerTask === length).map(cells),
  ]);
  return [
    formatTable(
      ['', 'rounds', 'chunks/s', 'ours ÷ it', 'node µs', 'postgres µs', 'its CPU ÷ ours', 'chunks/commit'],
      rows,
    ),
    '',
    ...flatness.map(
      ({ long, short, ratio }) =>
        `flatness of the writer, chunks/s at N=${long} ÷ at N=${short}: ${formatSpread(ratio)} in ${ratio?.rounds ?? 0} rounds`,
    ),
    'Medians (least–most); ratios are taken round by round, then their median. µs are CPU per chunk; those of node include making the load.',
    'Prisma and single statements end with their round: their chunks/s are commands/s × N ÷ (N + 2), as if all tasks were whole.',
  ].join('\n');
};

const cells = (line: Line): string[] => [
  `  ${line.label}`,
  String(line.chunksPerSecond?.rounds ?? 0),
  formatSpread(line.chunksPerSecond),
  line.isOurs ? '' : formatSpread(line.oursToIt),
  formatSpread(line.nodeUs),
  formatSpread(line.postgresUs),
  line.isOurs ? '' : formatSpread(line.cpuToOurs),
  line.chunksPerCommit ? formatNumber(line.chunksPerCommit.median) : '',
];

const rate = (round: Round | undefined) => round?.chunksPerSecond;
const cpu = (round: Round | undefined) =>
  round?.postgresUs === undefined ? undefined : round.nodeUs + round.postgresUs;
