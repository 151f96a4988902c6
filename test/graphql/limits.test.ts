import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDoors, openGraphqlSocket, type Question } from '../support/graphql-socket.ts';
import { useHouse } from '../support/house.ts';

// What a document may be: the same over each door, and measured before anything runs.

const house = useHouse();
const { doors, close } = openDoors(house);
afterAll(close);
let agent: Awaited<ReturnType<typeof house.registerAgent>>;
beforeAll(async () => {
  agent = await house.registerAgent();
});

const countNetworks = async () => (await house.query('select count(*)::int as count from network')).rows[0].count;
const repeat = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');
const nested = (depth: number, [open = '', close = '']: string[], inner: string) =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
const makes = 'createNetwork(name: "made") { key }'; // what must not run
const page = (size: string, inner: string) => `children(${size}) { edges { node { ${inner} } } }`;
const introspected = '__schema { types { fields { type { fields { name } } } } }';

type Refused = { what: string; code?: string; message?: RegExp } & Question;
const refused: Refused[] = [
  { what: 'too many tokens', query: `mutation { ${makes} ${repeat(1_000, () => '__typename')} }`, message: /tokens/ },
  {
    what: 'too many aliases',
    query: `mutation { ${makes} ${repeat(31, (n) => `a${n}: __typename`)} }`,
    message: /alias/,
  },
  {
    what: 'too many directives',
    query: `mutation { ${makes} ${repeat(31, () => `... @include(if: true) { a: __typename }`)} }`,
    message: /directives/,
  },
  {
    what: 'a literal that is nested too deep',
    query: `mutation { ${makes} registerAgent(input: { name: "x", card: ${nested(65, ['[', ']'], '1')} }) { token } }`,
    message: /literal depth/,
  },
  {
    what: 'a selection that is nested too deep',
    query: `mutation { ${makes} retryTask(id: "x") { ${nested(11, ['parent {', '}'], 'id')} } }`,
    message: /depth is 13/,
  },
  {
    what: 'a depth that fragments hide',
    query: `mutation { ${makes} retryTask(id: "x") { ...A } } ${repeat(5, (n) => `fragment ${'ABCDE'[n]} on Task { root { parent { ...${'BCDEF'[n]} } } }`)} fragment F on Task { root { id } }`,
    message: /depth is 13/,
  },
  {
    what: 'long lists in lists',
    query: `mutation { ${makes} retryTask(id: "x") { ${page('first: 100', page('last: 100', 'id state'))} } }`,
    message: /cost/,
  },
  {
    what: 'lists in lists whose lengths are variables',
    query: `mutation($n: Int, $m: Int = 100) { ${makes} retryTask(id: "x") { ${page('first: $n', page('first: $m', 'id state'))} } }`,
    variables: { n: 100 },
    message: /cost/,
  },
  {
    what: 'lists in lists of which nobody said how long they are',
    query: `mutation { ${makes} retryTask(id: "x") { children { edges { node { children { edges { node { messages { edges { node { id seq text } } } } } } } } } } }`,
    message: /cost/,
  },
  {
    what: 'lists in lists that fragments hide',
    query: `mutation { ${makes} retryTask(id: "x") { ...A } } fragment A on Task { ${page('first: 100', '...B')} } fragment B on Task { ${page('first: 100', '...C')} } fragment C on Task { id state }`,
    message: /cost/,
  },
  {
    what: 'a fragment that is spread again and again',
    query: `mutation { ${makes} a: retryTask(id: "x") { ...A } } fragment A on Task { ${repeat(12, (n) => `a${n}: parent { ...B }`)} } fragment B on Task { ${repeat(12, (n) => `b${n}: parent { ...C }`)} } fragment C on Task { children(first: 100) { edges { node { id } } } }`,
    message: /cost/,
  },
  {
    what: 'introspection of everything, twice',
    query: `query { a: ${introspected} ${repeat(19, (n) => `a${n}: ${introspected}`)} }`,
    message: /introspection/,
  },
  {
    what: 'introspection with aliases in lists',
    query: `{ __schema { types { fields { ${repeat(8, (n) => `a${n}: type { ofType { fields { ${n} } } }`).replaceAll(/\{ \d \}/g, '{ ...F }')} } } } } fragment F on __Field { ${repeat(8, (n) => `b${n}: type { name }`)} }`,
    message: /introspection/,
  },
  { what: 'the same field too often', query: `{ ${repeat(998, () => 'version')} }`, message: /same fields too often/ },
];

test.each(refused)('$what: refused over each door before anything runs', async ({ query, variables = {}, message }) => {
  const before = await countNetworks();
  for (const ask of Object.values(doors)) {
    const { data, errors } = await ask({ query, variables });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COMPLEX']);
    expect(errors?.[0]?.message).toMatch(message ?? /./);
    expect(errors?.[0]?.extensions).not.toHaveProperty('http');
    expect(data ?? null).toBeNull();
  }
  expect(await countNetworks()).toBe(before);
});

test('a refused document tells a program how far it went', async () => {
  const { errors } = await doors.http({ query: `{ ${repeat(31, (n) => `a${n}: version`)} }` });
  expect(errors?.[0]?.extensions).toEqual({ code: 'QUERY_TOO_COMPLEX', expected: 30, actual: 31 });
});

test('an error tells where it stands, unless the document is long', async () => {
  const placeOf = async (query: string) => (await doors.http({ query })).errors?.[0];
  expect(await placeOf('{\n  nothing }')).toMatchObject({ locations: [{ line: 2, column: 3 }] });
  for (const long of ['\n'.repeat(1_001), ' '.repeat(10_000)]) {
    expect(await placeOf(`${long}{ nothing }`)).not.toHaveProperty('locations');
    expect(await placeOf(`${long}{ tasks(first: -1) { edges { cursor } } }`)).not.toHaveProperty('locations');
  }
});

test('what stays within the limits is answered', async () => {
  const { id } = await house.send({ agent: agent.name, text: 'hello' });
  const allowed = [
    `{ ${repeat(30, (n) => `a${n}: version @include(if: true)`)} }`,
    `{ task(id: "${id}") { ${nested(10, ['root {', '}'], 'id')} } }`,
    `{ task(id: "${id}") { ${page('first: 100', page('first: 19', 'id'))} } }`,
    `{ agent(name: "${agent.name}") { tasks { edges { node { id messages { edges { node { text parts { text } } } } } } } } }`,
    `${'\n'.repeat(100_000)}{ version }`,
    getIntrospectionQuery(),
  ];
  for (const query of allowed)
    for (const ask of Object.values(doors)) expect((await ask({ query })).errors).toBeUndefined();
});

test('only the operation that was chosen counts', async () => {
  const query = `query Small { version } query Large { task(id: "x") { ${page('first: 100', page('first: 100', 'id state'))} } }`;
  for (const ask of Object.values(doors)) {
    expect((await ask({ query, operationName: 'Small' })).data).toMatchObject({ version: expect.any(String) });
    expect((await ask({ query, operationName: 'Large' })).errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
    for (const operationName of ['Medium', '']) {
      const { errors } = await ask({ query, operationName });
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
    }
    expect((await ask({ query })).errors?.[0]?.extensions.code).toBe('BAD_INPUT');
  }
});

test.each(['first: 101', 'first: -1', 'last: 101', 'last: -1', 'first: 1, last: 1'])(
  'a page of %s is bad input',
  async (size) => {
    for (const list of ['tasks', 'agents', 'contexts'])
      for (const ask of Object.values(doors)) {
        const { errors } = await ask({ query: `{ ${list}(${size}) { edges { cursor } } }` });
        expect(errors?.[0]?.extensions.code).toBe('BAD_INPUT');
        expect(errors?.[0]?.message).toMatch(/first|last/);
      }
  },
);

test('over a socket an error costs its own operation, never the socket', async () => {
  const socket = await openGraphqlSocket(house.url, house.ownerKey);
  const codeOf = async (question: Question) => (await socket.ask(question)).errors?.[0]?.extensions.code;
  expect(await codeOf({ query: '{' })).toBe('BAD_INPUT');
  expect(await codeOf({ query: '' })).toBe('BAD_INPUT');
  expect(await codeOf({ query: '{ nothing }' })).toBe('BAD_INPUT');
  expect(await codeOf({ query: 'query($n: Int!) { tasks(first: $n) { edges { cursor } } }' })).toBe('BAD_INPUT');
  expect(await codeOf({ query: 'fragment F on Task { id }' })).toBe('BAD_INPUT');
  expect(await codeOf({ query: 'subscription { taskEvents(taskId: "x") { seq } }' })).toBe('NOT_FOUND');
  expect((await socket.ask({ query: '{ version }' })).data).toEqual({ version: expect.any(String) });
  await socket.close();
});
