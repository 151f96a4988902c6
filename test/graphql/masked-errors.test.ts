import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { openDoors } from '../support/graphql-socket.ts';
import { useHouse } from '../support/house.ts';

// What is not the caller's fault is not the caller's to read: masked on each door, logged once.

const logged: { fields: object; message: string }[] = [];
const quiet = () => undefined;
const log: Log = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: (fields, message) => void logged.push({ fields, message }),
};
const house = useHouse({}, log);
const { doors, close } = openDoors(house);
afterAll(close);
beforeEach(() => {
  logged.length = 0;
});

const masked = { message: expect.stringContaining('Something went wrong in the hub'), code: 'INTERNAL' };
const each = Object.entries(doors);

test.each(each)('over %s, an error of the database is INTERNAL, and what it says stays inside', async (_, ask) => {
  const { id } = await house.send({ agent: (await house.registerAgent()).name, text: 'hello' });
  await house.query('alter table task_detail rename to broken');
  try {
    const { errors, data } = await ask({
      query: 'query($id: ID!) { version task(id: $id) { id usage } }',
      variables: { id },
    });
    expect(data).toMatchObject({ version: expect.any(String), task: { id, usage: null } }); // the rest is whole
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({ message: masked.message, path: ['task', 'usage'] });
    expect(errors?.[0]?.extensions).toEqual({ code: 'INTERNAL' });
    expect(JSON.stringify(errors)).not.toMatch(/relation|task_detail|select|\.ts/);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({ message: 'Unexpected error', fields: { err: { code: '42P01' } } });
  } finally {
    await house.query('alter table broken rename to task_detail');
  }
});

test.each(each)('over %s, an error of a mutation is INTERNAL, and nothing is half-written', async (_, ask) => {
  const count = async () => (await house.query('select count(*)::int as count from "user"')).rows[0].count;
  const before = await count();
  await house.query('alter table account rename to broken');
  try {
    const { errors, data } = await ask({ query: 'mutation { createUser(input: { name: "half" }) { id } }' });
    expect(data).toEqual({ createUser: null });
    expect(errors?.map(({ message, extensions }) => ({ message, ...extensions }))).toEqual([masked]);
    expect(JSON.stringify(errors)).not.toMatch(/prisma|account|relation|invocation/i);
    expect(logged).toHaveLength(1);
  } finally {
    await house.query('alter table broken rename to account');
  }
  expect(await count()).toBe(before);
});

test.each(each)('over %s, an answer that does not fit the schema is our fault, not the caller’s', async (_, ask) => {
  await house.query(`alter type task_state add value if not exists 'ODD'`);
  await house.query('alter table task disable trigger all');
  const { id } = await house.send({ agent: (await house.registerAgent()).name, text: 'hello' });
  await house.query(`update task set state = 'ODD' where id = $1`, [id]);
  const { errors } = await ask({ query: 'query($id: ID!) { task(id: $id) { state } }', variables: { id } });
  expect(errors?.map(({ message, extensions }) => ({ message, ...extensions }))).toEqual([masked]);
  expect(JSON.stringify(errors)).not.toContain('ODD');
  expect(logged).toHaveLength(1);
  await house.query('delete from task where id = $1', [id]);
  await house.query('alter table task enable trigger all');
});

test.each([
  ['sse', doors.sse],
  ['socket', doors.socket],
])('over %s, a subscription that breaks before it begins is INTERNAL', async (_, ask) => {
  const { id } = await house.send({ agent: (await house.registerAgent()).name, text: 'hello' });
  await house.query('alter table event rename to broken');
  try {
    const { errors } = await ask({
      query: 'subscription($id: ID!) { taskEvents(taskId: $id) { seq } }',
      variables: { id },
    });
    expect(errors?.map(({ message, extensions }) => ({ message, ...extensions }))).toEqual([masked]);
    expect(logged.filter(({ message }) => message === 'Unexpected error')).toHaveLength(1);
  } finally {
    await house.query('alter table broken rename to event');
  }
});

test('an error before the document is even read is 500, and as silent', async () => {
  await house.query('alter table api_key rename to broken');
  try {
    const response = await house.post({ query: '{ version }' });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ errors: [{ message: masked.message, extensions: { code: 'INTERNAL' } }] });
    expect(logged).toHaveLength(1);
  } finally {
    await house.query('alter table broken rename to api_key');
  }
});

test('a refusal is no error of ours: nothing is logged', async () => {
  for (const query of [
    '{',
    '{ nothing }',
    '{ tasks(first: -1) { edges { cursor } } }',
    'mutation { retryTask(id: "x") { id } }',
  ])
    for (const [, ask] of each) expect((await ask({ query })).errors).toHaveLength(1);
  expect(logged).toEqual([]);
});
