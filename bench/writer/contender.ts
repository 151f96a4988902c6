import type { Ground } from '../ground.ts';

/** What every contender does in a round: tasks in flight, each created, taken, streamed into and completed. */
export type Plan = {
  chunksPerTask: number;
  /** No task begins after this. */
  lastBeginMs: number;
  /** For the limit: commands in a batch, and how many chunks it writes in a round. */
  perFlush?: number;
  chunksInAll?: number;
};

/** Tasks with the chunks that were acknowledged: all of this must be in the database. */
export type Written = { key: string; chunks: number }[];

/** What a process did until it was through, or cut off. */
export type Measured = {
  seconds: number;
  /** Chunks that whole tasks would have got at this rate: see `stream.ts`. */
  chunks: number;
  cpuUs: number;
  commits: number;
  missedGroups: number;
};

export type Contender = {
  /** `onMeasured` is called when the clock stops; tasks that are still open then are completed before it resolves. */
  round(plan: Plan, onMeasured: (measured: Measured) => void): Promise<Written>;
  close(): Promise<void>;
};

export type ContenderName = 'ours' | 'prisma' | 'statement' | 'unnest' | 'limit';

export type Told =
  | { kind: 'open'; contender: ContenderName; url: string; ground: Ground }
  | { kind: 'round'; plan: Plan };

export type Heard =
  | { kind: 'opened' }
  | { kind: 'measured'; measured: Measured }
  | { kind: 'done'; written: Written }
  | { kind: 'failed'; message: string };
