import { DomainError } from './domain-error.ts';
import { type ChargeState, type Draft, log } from './draft.ts';
import type { Hold } from './head.ts';
import { formatMicros } from './money.ts';

// Money is reserved when a run begins, and captured or given back when it ends: in the same commit.

/** Reserves what the run costs. Without a look at the account the database decides whether it is covered. */
export const hold = (draft: Draft, price: Hold | null): void => {
  if (!price) return;
  const { task, available } = draft;
  if (available !== undefined && available < price.micros)
    throw new DomainError(
      'INSUFFICIENT_FUNDS',
      `The task costs ${formatMicros(price.micros)}, the account has ${formatMicros(available)} available`,
      { expected: formatMicros(price.micros), actual: formatMicros(available) },
    );
  task.hold = price;
  record(draft, price, 'HELD');
};

export const settle = (draft: Draft, state: 'CAPTURED' | 'RELEASED'): void => {
  const { task } = draft;
  if (!task.hold) return;
  record(draft, task.hold, state);
  task.hold = null;
};

const record = (draft: Draft, held: Hold, state: ChargeState): void => {
  const { run } = draft.task;
  log(draft, 'system', {
    kind: 'CHARGE',
    from: state === 'HELD' ? null : 'HELD',
    to: state,
    payload: { amount: formatMicros(held.micros) },
  });
  draft.changes.push({ kind: 'charge', run, state, hold: held });
};
