import { type GraphQLOutputType, isListType, isNonNullType } from 'graphql';

// What a field may cost: itself, and what is selected under it as often as it may come.

const usualPage = 20;
const longestPage = 100;
const usualList = 10;

type Field = { name: string; type: GraphQLOutputType; args: readonly { name: string }[] };

export const costOf = (args: Record<string, unknown>, _: unknown, field: Field) => {
  if (field.name === 'edges') return { field: 0, multiplier: 1 }; // the connection has counted them
  if (field.args.some(({ name }) => name === 'first' || name === 'last'))
    return { field: 1, multiplier: pageSize(args) };
  return { field: 1, multiplier: isList(field.type) ? usualList : 1 };
};

/** A longer one is refused when it is read, with a better word than that it costs too much. */
const pageSize = ({ first, last }: Record<string, unknown>): number =>
  Math.min(Number(first ?? last ?? usualPage), longestPage);

const isList = (type: GraphQLOutputType): boolean => isListType(isNonNullType(type) ? type.ofType : type);
