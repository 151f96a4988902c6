import { createRandom, type Random } from '../random.ts';

// What a fake agent does with a delivery follows from the task's key and the delivery's number alone, so the checker knows
// what may have happened.

type Asking = 'INPUT_REQUIRED' | 'AUTH_REQUIRED';

export type Step =
  | { do: 'acknowledge' }
  | { do: 'think'; ms: number }
  | { do: 'progress'; index: number }
  | { do: 'chunk'; index: number; isLast: boolean; isTwice: boolean }
  | { do: 'ask'; state: Asking }
  | { do: 'drop'; drop: Drop }
  | { do: 'end'; how: 'complete' | 'fail' };

/** The connection breaks. The agent comes back with a new one, here or at the other instance, in time or too late. */
export type Drop = {
  afterMs: number;
  isElsewhere: boolean;
  /** The hub sees the connection end; else it learns of it only after the agent has come back. */
  isNoticed: boolean;
  /** The old connection still brings reports. */
  goesOn: boolean;
};

export type Script = {
  /** ask: for input, which ends the delivery. wait: for an authorization that only a follow-up brings. */
  ending: 'complete' | 'fail' | 'hang' | 'ask' | 'wait';
  chunks: number;
  /** Reports carry `n`, and some are sent twice. */
  isNumbered: boolean;
  steps: Step[];
};

/** What is the same for all deliveries of a task. */
export const planOf = (task: string) => {
  const random = createRandom(seedOf(task));
  return {
    isNumbered: random.chance(0.5),
    hangs: random.chance(0.03),
    /** How long it may wait to be acknowledged. */
    ttlSeconds: random.chance(0.15) ? random.between(1, 3) : null,
    /** Nobody answers its questions. */
    isIgnored: random.chance(0.3),
  };
};

export const scriptOf = (task: string, delivery: number): Script => {
  const { isNumbered, hangs, ttlSeconds } = planOf(task);
  const random = createRandom(seedOf(task) + delivery * 7_919);
  const ending = hangs ? 'hang' : endingOf(random);
  const chunks = random.between(1, 12);
  const steps: Step[] = [];
  // Around the end of a short TTL, so that either may be first.
  if (ttlSeconds !== null && random.chance(0.5)) steps.push({ do: 'think', ms: random.between(200, 2_500) });
  steps.push({ do: 'acknowledge' });
  const dropsAt = random.chance(0.12) ? random.between(0, chunks - 1) : undefined;
  const asksAt = random.chance(0.06) ? random.between(0, chunks - 1) : undefined;
  for (let index = 0; index < chunks; index += 1) {
    if (random.chance(0.25)) steps.push({ do: 'think', ms: random.between(10, 400) });
    if (index === dropsAt) steps.push({ do: 'drop', drop: dropOf(random) });
    if (random.chance(0.15)) steps.push({ do: 'progress', index });
    if (index === asksAt)
      steps.push({ do: 'ask', state: 'AUTH_REQUIRED' }, { do: 'think', ms: random.between(100, 900) });
    const isTwice = isNumbered && random.chance(0.1);
    steps.push({ do: 'chunk', index, isLast: index === chunks - 1, isTwice });
  }
  if (ending === 'complete' || ending === 'fail') steps.push({ do: 'end', how: ending });
  if (ending === 'ask') steps.push({ do: 'ask', state: 'INPUT_REQUIRED' });
  if (ending === 'wait') steps.push({ do: 'ask', state: 'AUTH_REQUIRED' });
  return { ending, chunks, isNumbered, steps: hangs ? [{ do: 'acknowledge' }] : steps };
};

const endingOf = (random: Random) => {
  const dice = random.next();
  if (dice < 0.6) return 'complete';
  if (dice < 0.75) return 'fail';
  return dice < 0.93 ? 'ask' : 'wait';
};

const dropOf = (random: Random): Drop => ({
  afterMs: random.chance(0.85) ? random.between(0, 500) : random.between(1_300, 1_800),
  isElsewhere: random.chance(0.5),
  isNoticed: random.chance(0.6),
  goesOn: random.chance(0.7),
});

const seedOf = (task: string): number => Number.parseInt(task.slice(0, 8), 16);

// Texts name the connection that first sent them, so that the checker can tell whose report was stored.
const connectionOf = (holder: string): string => holder.slice(0, 8);
export const chunkText = (task: string, delivery: number, index: number, holder: string): string =>
  `${task}:${delivery}:${index}:${connectionOf(holder)}`;
export const progressText = (delivery: number, index: number | string, holder: string): string =>
  `<${delivery}:${index}:${connectionOf(holder)}>`;
/** At which step it was asked: a delivery may ask twice. */
export const questionText = (delivery: number, step: number, holder: string): string =>
  `?${delivery}:${step}:${connectionOf(holder)}`;
export const isFirstSentBy = (text: string, holder: string): boolean =>
  text.replace('>', '').endsWith(`:${connectionOf(holder)}`);
