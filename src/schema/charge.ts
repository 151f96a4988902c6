import type { ChargeView } from '../core/reads.ts';
import { builder } from './builder.ts';

const ChargeState = builder.enumType('ChargeState', { values: ['HELD', 'CAPTURED', 'RELEASED'] as const });

export const Charge = builder.objectRef<ChargeView>('Charge').implement({
  description: 'What a task costs.',
  fields: (t) => ({
    amount: t.expose('amount', { type: 'Decimal' }),
    state: t.expose('state', { type: ChargeState }),
    at: t.expose('at', { type: 'DateTime' }),
  }),
});
