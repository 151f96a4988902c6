import {
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { DomainError } from '../core/domain-error.ts';
import { isRecord } from '../core/json.ts';

// Variables are read several times before a resolver gets them, at about 2 µs for each item of a list, and each item that
// is wrong becomes an error: both are bounded here.

const mostItems = 5_000;

type Variables = { schema: GraphQLSchema; operation: OperationDefinitionNode; variables: Record<string, unknown> };

export const checkVariables = ({ schema, operation, variables }: Variables): void => {
  const definitions = operation.variableDefinitions ?? [];
  let items = 0;
  /** Lists of the schema's own types; what stands in JSON is not looked at. */
  const count = (type: GraphQLInputType, value: unknown): void => {
    if (isNonNullType(type)) count(type.ofType, value);
    else if (isListType(type)) {
      const list = Array.isArray(value) ? value : [];
      items += list.length;
      if (items > mostItems)
        throw new DomainError('TOO_LARGE', `The lists in the variables have more than ${mostItems} items`, {
          expected: mostItems,
        });
      for (const each of list) count(type.ofType, each);
    } else if (isInputObjectType(type) && isRecord(value))
      for (const field of Object.values(type.getFields())) count(field.type, value[field.name]);
  };
  for (const { variable, type } of definitions) {
    const named = typeFromAST(schema, type);
    if (isInputType(named)) count(named, variables[variable.name.value]);
  }
  const { errors } = getVariableValues(schema, definitions, variables, { maxErrors: 1 });
  if (errors?.[0]) throw errors[0];
};
