import { DomainError } from '../core/domain-error.ts';
import { formatMicros, parseMicros } from '../core/money.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', {
  description: 'A moment: RFC 3339 in UTC with milliseconds, such as 2026-11-18T09:30:00.000Z.',
  serialize: (date) => date.toISOString(),
  parseValue: (value) => {
    const isMoment =
      typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value);
    const date = new Date(isMoment ? value : Number.NaN);
    if (Number.isNaN(date.getTime()))
      throw new DomainError('BAD_INPUT', 'A DateTime looks like 2026-11-18T09:30:00.000Z');
    return date;
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

builder.scalarType('Decimal', {
  description: 'An amount of US dollars: a decimal string with six places, such as "0.050000".',
  serialize: (amount) => amount,
  parseValue: (value) => {
    const micros = typeof value === 'string' ? parseMicros(value) : undefined;
    if (micros === undefined)
      throw new DomainError('BAD_INPUT', 'A Decimal is a string such as "0.05", with at most six places');
    return formatMicros(micros);
  },
});
