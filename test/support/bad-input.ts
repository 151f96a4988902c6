import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';

// Bad inputs that follow from the schema alone: each place where a value stands, with each value that its type refuses.

export type Variables = Record<string, unknown>;
export type Case = { what: string; query: string; variables: Variables; code: string | null; message: RegExp };

/** Every field that a document can begin with. */
export const rootFields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
  (root) => Object.values(root?.getFields() ?? {}).map((field) => ({ name: `${root?.name}.${field.name}`, field })),
);

type Root = { name: string; field: GraphQLField<unknown, unknown> };

/** A document that gives each argument as a variable. */
export const documentOf = ({ name, field }: Root, without = ''): string => {
  const kind = name.split('.')[0]?.toLowerCase();
  const args = field.args.filter(({ name }) => name !== without);
  const withDefault = (value: unknown) => (value === undefined ? '' : ` = ${JSON.stringify(value)}`);
  const declared = args.map((arg) => `$${arg.name}: ${arg.type}${withDefault(arg.defaultValue)}`).join(', ');
  const given = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
  return `${kind}${declared && `(${declared})`} { ${field.name}${given && `(${given})`}${selection} }`;
};

/** The same with another value at a path such as `input.parts.0.text`; undefined: without it. */
export const changed = (variables: Variables, path: string, value: unknown): Variables => {
  const [name = '', ...rest] = path.split('.');
  const copy: Variables = Object.assign(Array.isArray(variables) ? [] : {}, variables);
  if (rest.length > 0) copy[name] = changed((copy[name] ?? {}) as Variables, rest.join('.'), value);
  else if (value === undefined) delete copy[name];
  else copy[name] = value;
  return copy;
};

export const casesOf = (root: Root, good: Variables): Case[] => {
  const query = documentOf(root);
  const { field } = root;
  const unknown = query.replace(
    new RegExp(` ${field.name}\\(?`),
    ` ${field.name}(nonsense: 1${field.args.length > 0 ? ', ' : ')'}`,
  );
  const documents = [
    { what: 'an argument that is not there', query: unknown, message: /Unknown argument "nonsense"/ },
    {
      what: 'a selection that is not there',
      query: `${query.replace(/ \{ __typename \}/, '').replace(/ \}$/, '')} { nonsense } }`,
      message: /nonsense|must not have a selection/,
    },
    ...field.args.filter(isRequiredArgument).map(({ name }) => ({
      what: `no argument ${name}`,
      query: documentOf(root, name),
      message: new RegExp(name),
    })),
  ];
  const values = field.args.flatMap((arg) =>
    places(arg.type, arg.name, isRequiredArgument(arg), good).flatMap(({ path, type, isRequired, base }) =>
      wrongValues(type, isRequired).map((value) => ({
        what: `${path} is ${value === undefined ? 'missing' : JSON.stringify(value)}`,
        query,
        variables: changed(base, path, value),
        message: new RegExp(`${path.split('.').findLast((name) => !/^\d+$/.test(name))}`),
      })),
    ),
  );
  return [...documents, ...values].map((each) => ({ variables: good, ...each, code: 'BAD_INPUT' }));
};

type Place = { path: string; type: GraphQLInputType; isRequired: boolean; base: Variables };

/** Each place within an argument, with variables in which everything around it is good. */
const places = (type: GraphQLInputType, path: string, isRequired: boolean, base: Variables): Place[] => {
  const here = { path, type, isRequired, base };
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) {
    const item = `${path}.0`;
    return [here, ...places(inner.ofType, item, false, changed(base, path, [sampleOf(inner.ofType)]))];
  }
  if (!isInputObjectType(inner)) return [here];
  const around = valueAt(base, path) === undefined ? changed(base, path, sampleOf(inner)) : base;
  return [
    here,
    ...Object.values(inner.getFields()).flatMap((field) =>
      places(field.type, `${path}.${field.name}`, isRequiredInputField(field), around),
    ),
  ];
};

const valueAt = (variables: Variables, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Variables | undefined)?.[name], variables);

const sampleOf = (type: GraphQLInputType): unknown => {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return [];
  if (isInputObjectType(type))
    return Object.fromEntries(
      Object.values(type.getFields())
        .filter(isRequiredInputField)
        .map((field) => [field.name, sampleOf(field.type)]),
    );
  return isEnumType(type) ? type.getValues()[0]?.name : ({ Int: 1, Boolean: true }[type.name] ?? 'x');
};

const wrongByName: Record<string, unknown[]> = {
  Int: ['1', 1.5, 2_147_483_648, -2_147_483_649, true, {}],
  Boolean: ['true', 1, {}],
  String: [1, true, {}, []],
  ID: [true, 1.5, {}, []],
  DateTime: [
    'yesterday',
    '',
    5,
    '2026-11-18',
    '2026-11-18T09:30:00',
    '2026-02-30T00:00:00Z',
    '2026-11-18T25:00:00Z',
    {},
  ],
  Decimal: ['', 'x', 0.5, '1e3', '0.0000001', '1,5', '1'.repeat(13), {}],
  JSON: [],
};

const wrongValues = (type: GraphQLInputType, isRequired: boolean): unknown[] => {
  const absent = [...(isNonNullType(type) ? [null] : []), ...(isRequired ? [undefined] : [])];
  const inner: GraphQLInputType = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) return [...absent, ...(isNonNullType(inner.ofType) ? [[null]] : [])];
  const named: GraphQLNamedType = getNamedType(inner);
  if (isInputObjectType(named)) return [...absent, 'x', 1, { nonsense: 1 }];
  const wrong = isEnumType(named)
    ? ['NOTHING', '', 1, named.getValues()[0]?.name.toLowerCase()]
    : wrongByName[named.name];
  if (!wrong) throw new Error(`Say which values are wrong for ${named.name}`);
  return [...absent, ...wrong];
};
