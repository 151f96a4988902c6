import { ratios, type Spread, spread } from '../statistics.ts';
import { formatSpread, formatTable } from '../table.ts';

export type Round = {
  chunksPerSecond: number;
  /** CPU for each chunk: of the server, of PostgreSQL, and of what made the load. */
  serverUs: number | undefined;
  postgresUs: number | undefined;
  loadUs: number | undefined;
  commitsPerTask: number | undefined;
};

type Rounds = (Round | undefined)[];
export type Section = { chunksPerTask: number; rounds: Record<string, Rounds>; inFlight: Record<string, number> };
export type Side = { name: string; label: string };

type Line = {
  chunksPerTask: number;
  name: string;
  label: string;
  inFlight: number;
  chunksPerSecond: Spread | undefined;
  serverUs: Spread | undefined;
  postgresUs: Spread | undefined;
  loadUs: Spread | undefined;
  commitsPerTask: Spread | undefined;
  /** Ours ÷ this one; for CPU of server and PostgreSQL together, this one ÷ ours: more than 1 is good for us. */
  oursToIt: Spread | undefined;
  cpuToOurs: Spread | undefined;
};

export const summarize = (sides: Side[], sections: Section[]): Line[] =>
  sections
    .toSorted((one, other) => one.chunksPerTask - other.chunksPerTask)
    .flatMap(({ chunksPerTask, rounds, inFlight }) =>
      sides.map(({ name, label }) => {
        const [ours = [], its = []] = [rounds.ours, rounds[name]];
        const of = (field: keyof Round) => spread(its.map((round) => round?.[field]));
        return {
          chunksPerTask,
          name,
          label,
          inFlight: inFlight[name] ?? 0,
          chunksPerSecond: of('chunksPerSecond'),
          serverUs: of('serverUs'),
          postgresUs: of('postgresUs'),
          loadUs: of('loadUs'),
          commitsPerTask: of('commitsPerTask'),
          oursToIt: ratios(ours.map(rate), its.map(rate)),
          cpuToOurs: ratios(its.map(cpu), ours.map(cpu)),
        };
      }),
    );

export const tabulate = (lines: Line[]): string => {
  const lengths = [...new Set(lines.map(({ chunksPerTask }) => chunksPerTask))];
  const rows = lengths.flatMap((length) => [
    [`N = ${length}`],
    ...lines.filter(({ chunksPerTask }) => chunksPerTask === length).map(cells),
  ]);
  const head = ['', 'in flight', 'rounds', 'chunks/s', 'ours ÷ it', 'server µs', 'postgres µs', 'its CPU ÷ ours'];
  return formatTable([...head, 'load µs', 'commits/task'], rows);
};

const cells = (line: Line): string[] => [
  `  ${line.label}`,
  String(line.inFlight),
  String(line.chunksPerSecond?.rounds ?? 0),
  formatSpread(line.chunksPerSecond),
  line.name === 'ours' ? '' : formatSpread(line.oursToIt),
  formatSpread(line.serverUs),
  formatSpread(line.postgresUs),
  line.name === 'ours' ? '' : formatSpread(line.cpuToOurs),
  line.loadUs ? formatSpread(line.loadUs) : '',
  line.commitsPerTask ? formatSpread(line.commitsPerTask) : '',
];

const rate = (round: Round | undefined) => round?.chunksPerSecond;
const cpu = (round: Round | undefined) =>
  round?.serverUs === undefined || round.postgresUs === undefined ? undefined : round.serverUs + round.postgresUs;
