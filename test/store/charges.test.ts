import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Command } from '../../src/core/command.ts';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

// Money moves in the commit that moves the task, or not at all.

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
let account: string;
beforeAll(async () => {
  world = await createWorld(database);
  account = randomUUID();
  await database.query('insert into account (id, user_id, balance) select $1, id, 5 from "user"', [account]);
});
afterAll(() => world.close());

const balance = async () =>
  (await database.query('select balance::text, held::text from account where id = $1', [account])).rows[0];
const set = (amount: number) => database.query('update account set balance = $1, held = 0', [amount]);
const chargesOf = async (task: string) =>
  (await database.query('select run, amount::text, state from charge where task_key = $1 order by run', [task])).rows;
const priced = async (micros: bigint, holder?: string): Promise<Extract<Command, { kind: 'create' }>> => {
  const create = world.create(await world.newContext(), holder ? { holder } : {});
  return { ...create, created: { ...create.created, hold: { account, micros } } };
};

test('a task that is completed is charged once, whatever it hears afterwards', async () => {
  await set(5);
  const holder = randomUUID();
  const create = await priced(1_250_000n, holder);
  await world.writer.submit(create);
  expect(await balance()).toEqual({ balance: '5.000000', held: '1.250000' });
  const complete: Command = { kind: 'complete', task: create.task, fence: { agent: world.agent, delivery: 1, holder } };
  await Promise.all([world.writer.submit(complete), world.writer.submit(complete)]);
  await world.writer.submit(complete);
  expect(await balance()).toEqual({ balance: '3.750000', held: '0.000000' });
  expect(await chargesOf(create.task)).toEqual([{ run: 1, amount: '1.250000', state: 'CAPTURED' }]);
  const lines = (await world.readLog(create.task)).filter(({ kind }) => kind === 'CHARGE');
  expect(lines.map(({ from, to }) => [from, to])).toEqual([
    [null, 'HELD'],
    ['HELD', 'CAPTURED'],
  ]);
  expect((await world.readLog(create.task)).at(-1)).toMatchObject({ kind: 'STATUS', to: 'COMPLETED' });
});

test('any other end gives the money back, and a retry holds it again', async () => {
  await set(2);
  const create = await priced(2_000_000n);
  await world.writer.submit(create);
  const { task } = create;
  await world.writer.submit({ kind: 'cancel', task, actor: 'ada', reason: 'REQUESTED' });
  expect(await balance()).toEqual({ balance: '2.000000', held: '0.000000' });
  await world.writer.submit({ kind: 'retry', task, actor: 'ada', hold: { account, micros: 1_500_000n } });
  expect(await balance()).toEqual({ balance: '2.000000', held: '1.500000' });
  expect(await chargesOf(task)).toEqual([
    { run: 1, amount: '2.000000', state: 'RELEASED' },
    { run: 2, amount: '1.500000', state: 'HELD' },
  ]);
});

test('cancel and retry in one batch leave one hold', async () => {
  await set(4);
  const create = await priced(2_000_000n);
  const { task } = create;
  const again: Command = { kind: 'retry', task, actor: 'ada', hold: { account, micros: 2_000_000n } };
  await Promise.all([
    world.writer.submit(create),
    world.writer.submit({ kind: 'cancel', task, actor: 'ada', reason: 'REQUESTED' }),
    world.writer.submit(again),
  ]);
  expect(await balance()).toEqual({ balance: '4.000000', held: '2.000000' });
  expect((await chargesOf(task)).map(({ state }) => state)).toEqual(['RELEASED', 'HELD']);
});

test('what the account cannot cover is refused whole: ten at once, and there is money for four', async () => {
  await set(4);
  const creates = await Promise.all(Array.from({ length: 10 }, () => priced(1_000_000n)));
  const answers = await Promise.allSettled(creates.map((create) => world.writer.submit(create)));
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
  expect(refused).toEqual(Array(6).fill('INSUFFICIENT_FUNDS'));
  expect(await balance()).toEqual({ balance: '4.000000', held: '4.000000' });
  const { rows } = await database.query('select count(*)::int from task where key = any($1)', [
    creates.map(({ task }) => task),
  ]);
  expect(rows).toEqual([{ count: 4 }]);
});

test('a retry that the account cannot cover leaves the task as it was', async () => {
  await set(1);
  const create = await priced(1_000_000n);
  const { task } = create;
  await world.writer.submit(create);
  await world.writer.submit({ kind: 'cancel', task, actor: 'ada', reason: 'REQUESTED' });
  const before = await world.readLog(task);
  await expect(
    world.writer.submit({ kind: 'retry', task, actor: 'ada', hold: { account, micros: 1_000_001n } }),
  ).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS', facts: { expected: '1.000001', actual: '1.000000' } });
  expect(await world.readLog(task)).toEqual(before);
});
