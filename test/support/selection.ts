import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';

// Documents made from the schema, so that no field can be forgotten.

type Operation = 'query' | 'mutation' | 'subscription';
export type RootField = { name: string; operation: Operation; field: GraphQLField<unknown, unknown> };

/** Every field of Query, Mutation and Subscription. */
export const rootFields: RootField[] = (
  [
    ['query', schema.getQueryType()],
    ['subscription', schema.getSubscriptionType()],
    ['mutation', schema.getMutationType()],
  ] as [Operation, GraphQLObjectType | undefined][]
).flatMap(([operation, type]) =>
  Object.values(type?.getFields() ?? {}).map((field) => ({ name: `${type?.name}.${field.name}`, operation, field })),
);

/** Documents that ask a root field for every scalar as deep as `depth` objects, one for each way through the schema. */
export const documentsOf = ({ operation, field }: RootField, given: string[], depth: number): string[] => {
  const args = field.args.filter(({ name }) => given.includes(name));
  const declared = args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = args.map(({ name }) => `${name}: $${name}`).join(', ');
  const head = `${operation}${declared && `(${declared})`} { ${field.name}${passed && `(${passed})`}`;
  const type = getNamedType(field.type);
  if (isLeafType(type)) return [`${head} }`];
  return [...ways(type, depth)].map((selection) => `${head} { ${selection} } }`);
};

function* ways(type: GraphQLNamedType, depth: number): Generator<string> {
  if (isAbstractType(type)) {
    for (const one of schema.getPossibleTypes(type))
      for (const inner of ways(one, depth)) yield `__typename ... on ${one.name} { ${inner} }`;
  } else if (isObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
    const node = nodeOf(type);
    if (node) {
      for (const inner of ways(node, depth))
        yield `totalCount pageInfo { startCursor endCursor } edges { cursor node { ${inner} } }`;
      return;
    }
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
    yield ['__typename', ...leaves.map(({ name }) => name)].join(' ');
    if (depth <= 1) return;
    for (const field of fields.filter((each) => !leaves.includes(each)))
      for (const inner of ways(getNamedType(field.type), depth - 1)) yield `${withPage(field)} { ${inner} }`;
  }
}

/** What a page holds; undefined: the type is no page. */
const nodeOf = (type: GraphQLObjectType): GraphQLNamedType | undefined => {
  const edge = type.getFields().edges && getNamedType(type.getFields().edges?.type);
  const node = isObjectType(edge) ? edge.getFields().node : undefined;
  return node && getNamedType(node.type);
};

const withPage = ({ name, args }: GraphQLField<unknown, unknown>): string =>
  args.some((arg) => arg.name === 'first') ? `${name}(first: 6)` : name;

/** The arguments of a field that hold ids, names or texts, such as `input.parts.text`. */
export const wordArguments = ({ field }: RootField): string[] =>
  field.args.flatMap(({ name, type }) => wordsIn(name, getNamedType(type)));

const wordsIn = (path: string, type: GraphQLNamedType): string[] => {
  if (isInputObjectType(type))
    return Object.values(type.getFields()).flatMap(({ name, type: inner }) =>
      wordsIn(`${path}.${name}`, getNamedType(inner)),
    );
  return ['ID', 'String'].includes(type.name) ? [path] : [];
};
