import fc from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';
import type { Question } from './graphql-socket.ts';

// Documents that nobody sane sends. Half of them fit the schema and carry odd values, so that they reach the resolvers;
// the others hardly look like GraphQL.

const oddNumbers = [0, -1, 1, 100, 101, 2_147_483_647, 2_147_483_648, -2_147_483_649, 1e308, 1.5];
const oddTexts = [
  '',
  'x',
  '\\u0000',
  '\\uD83D\\uDE00',
  '%',
  "';--",
  'null',
  '../..',
  '018f0000-0000-7000-8000-000000000000',
  'W10',
];
const oddJson = [
  'null',
  '[]',
  '{}',
  '{ a: { b: [1, "x", null] } }',
  '"x"',
  '1e999',
  `${'['.repeat(70)}${']'.repeat(70)}`,
];

const literalOf = (type: GraphQLInputType, random: Random): string => {
  if (random(12) === 0) return ['null', '"x"', '1', '[]', '{}', 'X', '$v', 'true'][random(8)] ?? '';
  if (isNonNullType(type)) return literalOf(type.ofType, random);
  if (isListType(type))
    return `[${Array.from({ length: random(3) }, () => literalOf(type.ofType, random)).join(', ')}]`;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || random(3) === 0);
    return `{ ${fields.map((field) => `${field.name}: ${literalOf(field.type, random)}`).join(', ')} }`;
  }
  switch (type.name) {
    case 'Int':
      return String(oddNumbers[random(oddNumbers.length)]);
    case 'Boolean':
      return random(2) === 0 ? 'true' : 'false';
    case 'JSON':
      return oddJson[random(oddJson.length)] ?? '';
    case 'DateTime':
      return (
        ['"2026-11-18T09:30:00.000Z"', '"0000-01-01T00:00:00Z"', '"9999-12-31T23:59:59-23:59"', '"now"'][random(4)] ??
        ''
      );
    case 'Decimal':
      return ['"0.05"', '"-1"', '"1e9"', '"999999999999.999999"', '5'][random(5)] ?? '';
    case 'String':
    case 'ID':
      return `"${oddTexts[random(oddTexts.length)]}"`;
    default: {
      const values = 'getValues' in type ? type.getValues() : [];
      return values[random(values.length)]?.name ?? 'X';
    }
  }
};

type Random = (below: number) => number;

const argumentsOf = (args: readonly GraphQLArgument[], random: Random): string => {
  const given = args.filter((arg) => (isNonNullType(arg.type) ? random(20) > 0 : random(3) === 0));
  return given.length === 0
    ? ''
    : `(${given.map(({ name, type }) => `${name}: ${literalOf(type, random)}`).join(', ')})`;
};

const selectionOf = (type: GraphQLNamedType, depth: number, random: Random): string => {
  if (!isCompositeType(type)) return '';
  const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
  const chosen = Array.from({ length: 1 + random(4) }, () => fields[random(fields.length)]).flatMap((field) => {
    if (!field || (depth <= 0 && isCompositeType(getNamedType(field.type)))) return [];
    const alias = random(3) === 0 ? `a${random(9)}: ` : '';
    const directive = random(10) === 0 ? ' @include(if: $v)' : '';
    const inner = selectionOf(getNamedType(field.type), depth - 1, random);
    return [`${alias}${field.name}${argumentsOf(field.args, random)}${directive}${inner}`];
  });
  return ` { __typename ${chosen.join(' ')} ${random(15) === 0 ? '...F' : ''} }`;
};

const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
  (type): type is GraphQLObjectType => isObjectType(type),
);

export const typedDocument: fc.Arbitrary<Question> = fc
  .tuple(fc.infiniteStream(fc.nat(1_000_000)), fc.dictionary(fc.constantFrom('v', 'w'), fc.jsonValue({ maxDepth: 3 })))
  .map(([numbers, variables]) => {
    const random: Random = (below) => (numbers.next().value ?? 0) % Math.max(below, 1);
    const root = roots[random(roots.length)] as GraphQLObjectType;
    const all = Object.values(root.getFields());
    const fields = Array.from({ length: root.name === 'Subscription' ? 1 : 1 + random(4) }, (_, n) => {
      const field = all[random(all.length)];
      if (!field) return '';
      return `r${n}: ${field.name}${argumentsOf(field.args, random)}${selectionOf(getNamedType(field.type), random(5), random)}`;
    });
    const kind = root.name.toLowerCase();
    const type = ['Boolean', 'Boolean!', 'Int', 'JSON', 'Nothing', '[[ID]]'][random(6)];
    const fragment =
      random(4) === 0 ? ` fragment F on ${['Task', 'Agent', 'Query', 'Int'][random(4)]} { id ...F }` : '';
    return {
      query: `${kind} Q${random(2) === 0 ? `($v: ${type} = true)` : ''} { ${fields.join(' ')} }${fragment}`,
      variables,
    };
  });

const tokens = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '...',
  '!',
  '$',
  '@',
  ':',
  '=',
  '|',
  '&',
  '#',
  '"',
  '"""',
  '\\u',
  '-',
  '1e',
  '\n',
];
const words = [
  'query',
  'mutation',
  'subscription',
  'fragment',
  'on',
  'version',
  'tasks',
  '__schema',
  '__typename',
  'type',
  'extend',
];

export const brokenText: fc.Arbitrary<Question> = fc
  .oneof(
    fc.array(fc.constantFrom(...tokens, ...words), { maxLength: 60 }).map((all) => all.join(' ')),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 50 }).map((text) => `{ task(id: ${JSON.stringify(text)}) { id } }`),
  )
  .map((query) => ({ query }));
