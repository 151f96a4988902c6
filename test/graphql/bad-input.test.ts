import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Case, casesOf, changed, documentOf, rootFields } from '../support/bad-input.ts';
import { type Row, rowsFor } from '../support/bad-input-rows.ts';
import { openDoors } from '../support/graphql-socket.ts';
import { useHouse } from '../support/house.ts';

// Bad input has a stable code and a message that names what is wrong, over each door, and nothing is written.

const house = useHouse();
const { doors, close } = openDoors(house);
afterAll(close);
let rows: Record<string, Row>;
let keys: Record<Row['as'], string>;
beforeAll(async () => {
  const agent = await house.registerAgent({ skills: [{ id: 'talk' }] });
  const externalId = 'somebody';
  await house.createUser({ externalId });
  const { user } = await house.get('{ viewer { user { id } } }');
  const [waiting, working] = [
    await house.send({ agent: agent.name, text: 'wait', contextId: 'c' }),
    await house.send({ agent: agent.name, text: 'work' }),
  ];
  await house.get('mutation($id: ID!) { ackTask(id: $id, delivery: 1) { id } }', { id: working.id }, agent.token);
  keys = { owner: house.ownerKey, agent: agent.token };
  rows = rowsFor({ agent: agent.name, waiting: waiting.id, working: working.id, owner: user.id, externalId });
});

/** How many rows each table has. */
const counts = async (): Promise<Record<string, number>> => {
  const { rows: tables } = await house.query(`select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`);
  const selects = tables.map(({ name }) => `(select count(*)::int from "${name}") as "${name}"`);
  return (await house.query(`select ${selects.join(', ')}`)).rows[0];
};

const allCases = (root: (typeof rootFields)[number], { good, bad, also = [] }: Row): Case[] => [
  ...casesOf(root, good),
  ...bad.map(([path, value, code, message]) => ({
    what: `${path} is ${JSON.stringify(value)?.slice(0, 60)}`,
    query: documentOf(root),
    variables: changed(good, path, value),
    code,
    message,
  })),
  ...also.map(([query, code, message]) => ({ what: query, query, variables: {}, code, message })),
];

test('every field that a document can begin with has a row, and no row is left over', () => {
  expect(Object.keys(rows).sort()).toEqual(rootFields.map(({ name }) => name).sort());
});

describe.each(Object.entries(doors))('over %s', (_, ask) => {
  test.each(rootFields)('$name', async (root) => {
    const row = rows[root.name];
    if (!row) throw new Error(`Say which input of ${root.name} is bad: test/support/bad-input-rows.ts`);
    const before = await counts();
    const check = async ({ what, query, variables, code, message }: Case) => {
      const { errors, data } = await ask({ query, variables }, keys[row.as]);
      const [error] = errors ?? [];
      const isRight = code === null ? !errors && data : error?.extensions.code === code && message.test(error.message);
      return isRight ? [] : [{ what, code, message: String(message), error: error ?? data }];
    };
    const all = allCases(root, row);
    const wrong: unknown[] = [];
    while (all.length > 0) wrong.push(...(await Promise.all(all.splice(0, 20).map(check))).flat());
    expect(wrong).toEqual([]);
    expect(await counts()).toEqual(before);
  });
});

test('a refusal of one field leaves the answers of the others whole', async () => {
  for (const ask of Object.values(doors)) {
    const { data, errors } = await ask({
      query: 'mutation { a: retryTask(id: "x") { id } b: createNetwork(name: "") { key } c: revokeApiKey(id: "x") }',
    });
    expect(data).toEqual({ a: null, b: null, c: null });
    expect(errors?.map(({ path, extensions }) => [path?.[0], extensions.code])).toEqual([
      ['a', 'NOT_FOUND'],
      ['b', 'BAD_INPUT'],
      ['c', 'NOT_FOUND'],
    ]);
  }
});
