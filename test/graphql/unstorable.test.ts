import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDoors, type Question } from '../support/graphql-socket.ts';
import { useHouse } from '../support/house.ts';

// What PostgreSQL cannot store, or what breaks who walks through it, is bad input wherever it stands.

const house = useHouse();
const { doors, close } = openDoors(house);
afterAll(close);
let agent: string;
beforeAll(async () => {
  agent = (await house.registerAgent()).name;
});

const rows = async () =>
  (
    await house.query(
      'select (select count(*) from task) + (select count(*) from "user") + (select count(*) from network) as count',
    )
  ).rows[0].count;
const send = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }';
const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: [deep(depth - 1)] });
const deepText = (depth: number, [open = '', end = '']: string[]) => `${open.repeat(depth)}1${end.repeat(depth)}`;

const inVariables: Record<string, () => Record<string, unknown>> = {
  'NUL in a text': () => ({ text: 'a\0b' }),
  'half a surrogate pair in a text': () => ({ text: 'a\ud800b' }),
  'the other half': () => ({ text: '\udc00' }),
  'NUL in a part': () => ({ parts: [{ url: 'http://a\0' }] }),
  'NUL deep in JSON': () => ({ text: 'x', metadata: { a: [{ b: '\0' }] } }),
  'NUL in a name of JSON': () => ({ text: 'x', metadata: { 'a\0': 1 } }),
  'half a surrogate pair in a name of JSON': () => ({ text: 'x', metadata: { '\udfff': 1 } }),
  'NUL in an id': () => ({ text: 'x', contextId: 'a\0' }),
  'NUL in a name': () => ({ text: 'x', agent: 'a\0' }),
  'JSON nested too deep': () => ({ text: 'x', metadata: deep(40) }),
};

test.each(Object.entries(inVariables))('%s is bad input as a variable', async (_, input) => {
  const before = await rows();
  for (const ask of Object.values(doors)) {
    const { errors } = await ask({ query: send, variables: { input: { agent, ...input() } } });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
    expect(errors?.[0]?.message).toMatch(/^A variable (contains (a NUL|half a surrogate)|is nested deeper)/);
  }
  expect(await rows()).toBe(before);
});

test('a variable that nobody uses is checked too', async () => {
  const { errors } = await doors.http({ query: '{ version }', variables: { unused: '\0' } });
  expect(errors?.[0]?.extensions.code).toBe('BAD_INPUT');
});

const inDocuments: Record<string, [text: string, message: RegExp]> = {
  'NUL, escaped': ['text: "a\\u0000b"', /NUL/],
  'NUL, escaped in braces': ['text: "a\\u{0}b"', /NUL/],
  'NUL as it is': ['text: "a\0b"', /NUL/],
  'half a surrogate pair, escaped': ['text: "\\ud800"', /Syntax Error/],
  'half a surrogate pair, escaped in braces': ['text: "\\u{d800}"', /Syntax Error/],
  'half a surrogate pair as it is': ['text: "\ud800"', /Syntax Error/],
  'half a surrogate pair in a block': ['text: """\ud800"""', /Syntax Error/],
  'NUL deep in JSON': ['text: "x", metadata: { a: [{ b: "\\u0000" }] }', /NUL/],
  'a number that is too large': ['text: "x", metadata: { a: 1e999 }', /too large/],
  'a whole number that is too large': [`text: "x", metadata: { a: ${'9'.repeat(400)} }`, /too large/],
};

test.each(Object.entries(inDocuments))('%s is bad input in the document', async (_, [text, message]) => {
  const before = await rows();
  for (const ask of Object.values(doors)) {
    const { errors } = await ask({ query: `mutation { sendMessage(input: { agent: "${agent}", ${text} }) { id } }` });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
    expect(errors?.[0]?.message).toMatch(message);
  }
  expect(await rows()).toBe(before);
});

test('a default value of a variable is a part of the document', async () => {
  const query = `mutation($text: String = "\\u0000") { sendMessage(input: { agent: "${agent}", text: $text }) { id } }`;
  for (const ask of Object.values(doors)) expect((await ask({ query })).errors?.[0]?.extensions.code).toBe('BAD_INPUT');
});

test('a number in a body that is too large is bad input', async () => {
  const body = `{"query": ${JSON.stringify(send)}, "variables": {"input": {"agent": "${agent}", "text": "x", "metadata": {"a": 1e999}}}}`;
  expect(await (await house.post(body)).json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_INPUT' } }] });
});

test.each([
  ['lists', ['[', ']']],
  ['objects', ['{"a":', '}']],
])('a body of %s nested 100,000 deep is bad input, and the hub goes on', async (_, brackets) => {
  const before = await rows();
  const question = (json: string) =>
    `{"query": ${JSON.stringify(send)}, "variables": {"input": {"metadata": ${json}}}}`;
  const response = await house.post(question(deepText(100_000, brackets)));
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_INPUT' } }] });
  expect(await rows()).toBe(before);
  expect(await house.get('{ version }')).toEqual(expect.any(String));
});

test('what can be stored comes back as it was', async () => {
  const text = 'a\u0001\u001f\u007f\u2028 😀 \u{10ffff}\uffff "quotes" \\ \r\n';
  const data = { '': null, ['__proto__']: 1, constructor: [1.5, -0, 1e308, true], ['x'.repeat(1_000)]: { '😀': '' } };
  for (const ask of Object.values(doors)) {
    const question: Question = {
      query:
        'mutation($input: SendMessageInput!) { sendMessage(input: $input) { metadata messages { edges { node { parts { text data } } } } } }',
      variables: { input: { agent, parts: [{ text }, { data }], metadata: data } },
    };
    const { data: answer, errors } = await ask(question);
    expect(errors).toBeUndefined();
    const plain = JSON.parse(JSON.stringify(data));
    expect(answer.sendMessage.metadata).toEqual(plain);
    expect(answer.sendMessage.messages.edges[0].node.parts).toEqual([
      { text, data: null },
      { text: null, data: plain },
    ]);
  }
});

test('JSON in the document is the same as JSON in a variable: a repeat is recognised', async () => {
  const messageId = randomUUID();
  const literal = `mutation { sendMessage(input: { agent: "${agent}", messageId: "${messageId}", parts: [{ data: { a: [{ b: 1 }] } }] }) { id } }`;
  const first = await house.get(literal);
  expect(await house.get(literal)).toEqual(first);
  const input = { agent, messageId, parts: [{ data: { a: [{ b: 1 }] } }] };
  expect(await house.get(send, { input })).toEqual(first);
});
