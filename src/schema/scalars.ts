import { GraphQLError, valueFromASTUntyped } from 'graphql';
import { formatMicros, parseMicros } from '../core/money.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', {
  description: 'A moment: RFC 3339 in UTC with milliseconds, such as 2026-11-18T09:30:00.000Z.',
  serialize: (date) => date.toISOString(),
  parseValue: (value) => {
    const date = typeof value === 'string' ? momentOf(value) : undefined;
    if (!date) throw new GraphQLError('A DateTime looks like 2026-11-18T09:30:00.000Z'); // GraphQL adds where it stands
    return date;
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  // GraphQL makes objects without a prototype, which equal no other: a repeat would not be recognised.
  parseLiteral: (node, variables) => JSON.parse(JSON.stringify(valueFromASTUntyped(node, variables) ?? null)),
});

builder.scalarType('Decimal', {
  description: 'An amount of US dollars: a decimal string with six places, such as "0.050000".',
  serialize: (amount) => amount,
  parseValue: (value) => {
    const micros = typeof value === 'string' ? parseMicros(value) : undefined;
    if (micros === undefined) throw new GraphQLError('A Decimal is a string such as "0.05", with at most six places');
    return formatMicros(micros);
  },
});

const momentOf = (text: string): Date | undefined => {
  const [, day = ''] = text.match(/^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/) ?? [];
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day); // 30 February is none
  const date = new Date(isDay ? text : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
};
