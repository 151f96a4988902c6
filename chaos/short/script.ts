import { createRandom } from '../random.ts';

// What an agent does with a delivery follows from the task's id and the delivery's number alone, so the checker knows what may
// have happened. Every report has its `n` from the beginning.

export type Report =
  | { do: 'status'; n: number }
  | { do: 'chunk'; n: number; index: number; isLast: boolean }
  | { do: 'ask'; n: number; state: 'input-required' | 'auth-required' }
  | { do: 'end'; n: number; state: 'completed' | 'failed' | 'rejected' };

export type Step =
  | Report
  | { do: 'think'; ms: number }
  /** The agent connects anew; with `lingers`, its old connection goes on talking for a while. */
  | { do: 'drop'; lingers: boolean }
  | { do: 'crash' }
  | { do: 'silence' };

type Plan = {
  /** Its agent acknowledges it, and never says a word. */
  isSilent: boolean;
  ttlSeconds: number | undefined;
};

const seedOf = (task: string): number => Number.parseInt(task.slice(-8), 16);

/** What is the same for all deliveries of a task. */
export const planOf = (task: string): Plan => {
  const random = createRandom(seedOf(task));
  return { isSilent: random.chance(0.02), ttlSeconds: random.chance(0.05) ? random.between(1, 3) : undefined };
};

export const scriptOf = (task: string, delivery: number): Step[] => {
  if (planOf(task).isSilent) return [{ do: 'silence' }];
  const random = createRandom(seedOf(task) + delivery * 7_919);
  const steps: Step[] = [];
  let n = 0;
  const next = (): number => {
    n += 1;
    return n;
  };
  if (random.chance(0.03)) return [{ do: 'end', n: next(), state: 'rejected' }];
  const chunks = random.between(1, 8);
  const [dropsAt, asksAt, crashesAt] = [0.1, 0.06, 0.01].map((part) =>
    random.chance(part) ? random.between(0, chunks - 1) : undefined,
  );
  for (let index = 0; index < chunks; index += 1) {
    if (random.chance(0.4)) steps.push({ do: 'think', ms: random.between(10, 500) });
    if (random.chance(0.3)) steps.push({ do: 'status', n: next() });
    if (index === asksAt)
      steps.push({ do: 'ask', n: next(), state: 'auth-required' }, { do: 'think', ms: random.between(100, 900) });
    steps.push({ do: 'chunk', n: next(), index, isLast: index === chunks - 1 });
    if (index === dropsAt) steps.push({ do: 'drop', lingers: random.chance(0.7) });
    if (index === crashesAt) steps.push({ do: 'crash' });
  }
  const dice = random.next();
  if (dice < 0.68) steps.push({ do: 'end', n: next(), state: 'completed' });
  else if (dice < 0.8) steps.push({ do: 'end', n: next(), state: 'failed' });
  else steps.push({ do: 'ask', n: next(), state: dice < 0.95 ? 'input-required' : 'auth-required' });
  return steps;
};

export const isReport = (step: Step): step is Report => 'n' in step;

/** Texts say whose they are and which connection brought them: the checker sees which of two was stored. */
export const textOf = (canary: string, delivery: number, n: number, connection: number): string =>
  `${canary} ${delivery}:${n}:${connection}`;
export const lateText = (canary: string, delivery: number, connection: number): string =>
  `${canary} late ${delivery}:0:${connection}`;

export type Said = { delivery: number; n: number; connection: number; isLate: boolean };

export const readText = (text: string | undefined): Said | undefined => {
  const [, late, delivery, n, connection] = /^canary-\w+ (late )?(\d+):(\d+):(\d+)$/.exec(text ?? '') ?? [];
  if (delivery === undefined) return undefined;
  return { delivery: Number(delivery), n: Number(n), connection: Number(connection), isLate: late !== undefined };
};
