import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type ParseOptions,
  parse,
  type Source,
  visit,
} from 'graphql';
import { DomainError } from '../core/domain-error.ts';
import { checkJson, checkText } from '../core/json.ts';
import { introspectionCost } from './introspection.ts';
import { checkVariables } from './variables.ts';

// What a document may be. Everything is measured before anything runs.

export const limits = {
  tokens: 1_000,
  depth: 12,
  aliases: 30,
  directives: 30,
  cost: 20_000,
  introspection: 200_000, // once what tools ask for
  literalDepth: 64,
};

/** Parses, and refuses what does not depend on the variables. Documents come again and again: the caller keeps them. */
export const readDocument = (source: string | Source, options: ParseOptions | undefined): DocumentNode => {
  const document = parseWithin(source, options);
  checkDocument(document);
  return document;
};

const parseWithin = (source: string | Source, options: ParseOptions | undefined): DocumentNode => {
  try {
    return parse(source, { ...options, maxTokens: limits.tokens, noLocation: isLong(source) });
  } catch (error) {
    const isTooLong = error instanceof GraphQLError && error.message.includes('tokens. Parsing aborted');
    if (isTooLong) within('number of tokens', limits.tokens + 1, limits.tokens);
    throw error;
  }
};

/**
 * To tell where an error stands, GraphQL reads the document from its beginning, for each error: of a long one it took
 * 36 ms, and one request can have thousands. There nothing is told.
 */
const isLong = (source: string | Source): boolean => {
  const text = typeof source === 'string' ? source : source.body;
  return text.length > 10_000 || (text.match(/[\n\r]/g)?.length ?? 0) > 1_000;
};

const checkDocument = (document: DocumentNode): void => {
  let [aliases, directives, depth] = [0, 0, 0];
  const nested = {
    enter: () => within('literal depth', ++depth, limits.literalDepth),
    leave: () => {
      depth -= 1;
    },
  };
  visit(document, {
    Field: (node) => {
      if (node.alias) within('aliases', ++aliases, limits.aliases);
    },
    Directive: () => within('directives', ++directives, limits.directives),
    StringValue: ({ value }) => checkText(value, 'A text in the document'),
    IntValue: ({ value }) => checkJson(Number(value), 'The document'),
    FloatValue: ({ value }) => checkJson(Number(value), 'The document'),
    ListValue: nested,
    ObjectValue: nested,
  });
};

export type Operation = {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
};

/** What the chosen operation would cost, with the lists as long as its variables say. */
export const checkOperation = ({ schema, document, operationName, variables }: Operation): void => {
  checkJson(variables, 'A variable');
  const definitions = document.definitions.filter(
    (each) => each.kind !== Kind.OPERATION_DEFINITION || operationName == null || each.name?.value === operationName,
  );
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (!operation) return; // execution says what is wrong
  checkVariables({ schema, operation, variables: variables ?? {} });
  within('cost of introspection', introspectionCost(document, operation), limits.introspection);
  const { complexity, depth } = complexityFromQuery(
    { ...document, definitions },
    { schema, variables: variables ?? {} },
  );
  within('depth', depth, limits.depth);
  within('cost', complexity, limits.cost);
};

const within = (what: string, actual: number, expected: number): void => {
  if (actual > expected)
    throw new DomainError(
      'QUERY_TOO_COMPLEX',
      `The document’s ${what} is ${actual}; at most ${expected} is answered. Ask for less at once`,
      { expected, actual },
    );
};
