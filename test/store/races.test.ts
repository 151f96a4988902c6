import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Command } from '../../src/core/command.ts';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';
import { startWriter } from '../support/writers.ts';

// Two writer processes want the same head. The test holds its lock until the first waits for it, then the second; then
// it lets go. Both orders of each race.

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());

/** Submits both while nobody can commit, the first one first. */
const race = async (lock: { sql: string; value: string }, [first, second]: [Command, Command]) => {
  const [one, other] = await Promise.all([startWriter(database, 'first'), startWriter(database, 'second')]);
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query(lock.sql, lock.value ? [lock.value] : []);
  const outcomes = [one.submit(first)];
  await one.waits();
  outcomes.push(other.submit(second));
  await other.waits();
  await holder.query('rollback');
  await holder.end();
  return Promise.all(outcomes);
};

const lockTask = (key: string) => ({ sql: 'select from task where key = $1 for update', value: key });
const lockLane = (context: string) => ({ sql: 'select from lane where context_key = $1 for update', value: context });
const logOf = async (key: string) =>
  (await world.readLog(key)).filter(({ kind, to }) => kind === 'STATUS' && to !== 'WORKING').map(({ to }) => to);

test.each(['complete first', 'cancel first'])('cancel and complete: %s', async (order) => {
  const task = await world.working();
  await task.report({ kind: 'progress' });
  const complete: Command = { kind: 'complete', task: task.key, fence: task.fence };
  const cancel: Command = { kind: 'cancel', task: task.key, actor: 'ada', reason: 'REQUESTED' };
  const isCompleteFirst = order === 'complete first';
  const [winner, loser] = await race(lockTask(task.key), isCompleteFirst ? [complete, cancel] : [cancel, complete]);
  const end = isCompleteFirst ? 'COMPLETED' : 'CANCELED';
  expect([winner?.state, loser?.code]).toEqual([end, 'ILLEGAL_TRANSITION']);
  expect(await logOf(task.key)).toEqual(['SUBMITTED', end]);
});

test.each(['acknowledge first', 'expire first'])('expire and acknowledge: %s', async (order) => {
  const task = await world.working();
  const acknowledge: Command = { kind: 'acknowledge', task: task.key, fence: task.fence };
  const expire: Command = { kind: 'expire', task: task.key, delivery: 1 };
  const isAckFirst = order === 'acknowledge first';
  const [winner, loser] = await race(lockTask(task.key), isAckFirst ? [acknowledge, expire] : [expire, acknowledge]);
  if (isAckFirst) {
    expect([winner?.deliveryState, loser?.state]).toEqual(['ACKED', 'SUBMITTED']);
    expect(await logOf(task.key)).toEqual(['SUBMITTED']);
  } else {
    expect([winner?.state, loser?.code]).toEqual(['EXPIRED', 'STALE_DELIVERY']);
    expect(await logOf(task.key)).toEqual(['SUBMITTED', 'EXPIRED']);
  }
});

test('two instances take one lane: the first has it', async () => {
  const context = await world.newContext();
  const create = world.create(context);
  await world.writer.submit(create);
  const take = (holder: string): Command => ({
    kind: 'take',
    task: create.task,
    agent: world.agent,
    taker: { holder, instance: randomUUID() },
  });
  const [first, second] = [randomUUID(), randomUUID()];
  const outcomes = await race(lockLane(context), [take(first), take(second)]);
  expect(outcomes.map(({ holder }) => holder)).toEqual([first, first]);
  const { rows } = await database.query('select attempts, holder from task where key = $1', [create.task]);
  expect(rows).toEqual([{ attempts: 1, holder: first }]);
});

test.each(['zombie first', 'take-over first'])(
  'a zombie reports while its delivery is taken over: %s',
  async (order) => {
    const task = await world.working();
    const report: Command = { kind: 'progress', task: task.key, fence: task.fence, text: 'late' };
    const takeOver: Command = {
      kind: 'resume',
      task: task.key,
      agent: world.agent,
      delivery: 1,
      taker: { holder: randomUUID(), instance: randomUUID() },
    };
    const isZombieFirst = order === 'zombie first';
    const [winner, loser] = await race(lockTask(task.key), isZombieFirst ? [report, takeOver] : [takeOver, report]);
    expect(winner?.state).toBe(isZombieFirst ? 'WORKING' : 'SUBMITTED');
    expect(loser?.code).toBe(isZombieFirst ? undefined : 'STALE_DELIVERY');
    const texts = (await world.readLog(task.key)).filter(({ payload }) => payload.text === 'late');
    expect(texts).toHaveLength(isZombieFirst ? 1 : 0);
  },
);

test('two senders when one place in line is left: one gets it, the other is refused', async () => {
  const context = await world.newContext();
  await world.writer.submit(world.create(context));
  await database.query('update lane set waiting = 9998 where context_key = $1', [context]);
  // Both took the lane for absent and are missed: which of them decides again first is open.
  const outcomes = await race(lockLane(context), [world.create(context), world.create(context)]);
  expect(outcomes.map(({ deliveryState, code }) => deliveryState ?? code).sort()).toEqual(['QUEUED', 'QUEUE_FULL']);
  expect((await database.query('select waiting from lane where context_key = $1', [context])).rows).toEqual([
    { waiting: 9_999 },
  ]);
});

test('two senders with one task id: one is refused, whole', async () => {
  const contexts = [await world.newContext(), await world.newContext()] as const;
  const first = world.create(contexts[0]);
  const second = world.create(contexts[1], { id: first.created.id });
  const outcomes = await race({ sql: 'lock table task in share row exclusive mode', value: '' }, [first, second]);
  expect(outcomes.map(({ state, code }) => state ?? code).sort()).toEqual(['IDEMPOTENCY_CONFLICT', 'SUBMITTED']);
  const { rows } = await database.query('select context_key from lane where context_key = any($1)', [contexts]);
  expect(rows).toEqual([{ context_key: contexts[outcomes.findIndex(({ state }) => state)] }]); // nothing of the loser is left
});
