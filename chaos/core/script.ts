import { createRandom } from '../random.ts';

// What a fake agent does with a task follows from the task's key alone, so the checker knows what may have happened.

export type Script = {
  ending: 'complete' | 'fail' | 'hang';
  chunks: number;
  /** Reports carry `n`, and some are sent twice. */
  isNumbered: boolean;
  /** Before each chunk: how long the agent thinks; 0: it does not even wait for the answer to the last one. */
  pausesMs: number[];
  /** Before which chunks it tells its progress. */
  progress: boolean[];
  /** Which chunks are sent twice. */
  twice: boolean[];
};

export const scriptOf = (task: string): Script => {
  const random = createRandom(Number.parseInt(task.slice(0, 8), 16));
  const isNumbered = random.chance(0.5);
  const dice = random.next();
  const ending = dice < 0.8 ? 'complete' : dice < 0.97 ? 'fail' : 'hang';
  const chunks = random.between(1, 14);
  const each = <T>(make: () => T): T[] => Array.from({ length: chunks }, make);
  return {
    ending,
    chunks,
    isNumbered,
    pausesMs: each(() => (random.chance(0.25) ? random.between(10, 500) : 0)),
    progress: each(() => random.chance(0.15)),
    twice: each(() => isNumbered && random.chance(0.1)),
  };
};

export const chunkText = (task: string, delivery: number, index: number): string => `${task}:${delivery}:${index}`;
export const progressText = (delivery: number, index: number): string => `<${delivery}:${index}>`;
