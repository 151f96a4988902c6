import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { createWorld, message } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());

const row = async (sql: string, values: unknown[]) => (await database.query(sql, values)).rows[0];
const taskRow = (key: string) => row('select * from task where key = $1', [key]);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('a task from its creation to its end: state, log, ledger, delivery and lane agree', async () => {
  const task = await world.working();
  await task.report({ kind: 'acknowledge' });
  await task.report({ kind: 'progress', text: 'thinking ' });
  await task.report({ kind: 'progress', text: 'aloud' });
  await task.chunk('result');
  const { task: head } = await task.report({ kind: 'complete' });

  const log = await world.readLog(task.key);
  expect(log.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['STATUS', null, 'SUBMITTED'],
    ['MESSAGE', null, null],
    ['DELIVERY', null, 'QUEUED'],
    ['DELIVERY', 'QUEUED', 'DELIVERED'],
    ['DELIVERY', 'DELIVERED', 'ACKED'],
    ['DELIVERY', 'ACKED', 'WORKING'],
    ['STATUS', 'SUBMITTED', 'WORKING'],
    ['STATUS', 'WORKING', 'WORKING'],
    ['ARTIFACT', null, null],
    ['MESSAGE', null, null],
    ['DELIVERY', 'WORKING', 'ENDED'],
    ['STATUS', 'WORKING', 'COMPLETED'],
  ]);
  expect(log.map(({ seq }) => seq)).toEqual(numbers(12));
  expect(await taskRow(task.key)).toMatchObject({
    state: 'COMPLETED',
    last_seq: 12,
    generation: 4,
    delivery_state: 'ENDED',
    holder: null,
    finished_at: expect.any(Date),
    started_at: expect.any(Date),
  });
  expect(head.seq).toBe(12);
  const { rows: ledger } = await database.query('select author, parts from message where task_key = $1 order by seq', [
    task.key,
  ]);
  expect(ledger).toEqual([
    { author: 'USER', parts: [{ text: 'hello' }] },
    { author: 'AGENT', parts: [{ text: 'thinking aloud' }] },
  ]);
  expect(await row('select state, outcome from delivery where task_key = $1', [task.key])).toEqual({
    state: 'ENDED',
    outcome: 'COMPLETED',
  });
  expect(await row('select count(*)::int as lanes from lane where running = $1', [task.key])).toEqual({ lanes: 0 });
  expect(await row('select count(*)::int as deadlines from deadline where task_key = $1', [task.key])).toEqual({
    deadlines: 0,
  });
  expect(await row('select metadata from task_detail where task_key = $1', [task.key])).toEqual({
    metadata: { color: 'blue' },
  });
});

test('what watchers are told is what is stored', async () => {
  const task = await world.working();
  await Promise.all(numbers(50).map((n) => task.chunk(`${n} `)));
  await task.report({ kind: 'complete' });
  const told = world.told.get(task.key)?.map(({ seq, kind, from, to, payload }) => ({ seq, kind, from, to, payload }));
  expect(told).toEqual(await world.readLog(task.key));
});

test('chunks that come faster than they are written share flushes and rows, and keep their order', async () => {
  const task = await world.working();
  const before = world.flushes();
  const answers = await Promise.all(numbers(900).map((n) => task.chunk(`${n} `, { n })));
  expect(answers.map(({ task: { seq } }) => seq)).toEqual(numbers(900).map((n) => n + 6));
  expect(world.flushes() - before).toBeLessThanOrEqual(Math.ceil(900 / 64) + 1);
  const chunks = (await world.readLog(task.key)).filter(({ kind }) => kind === 'ARTIFACT');
  expect(chunks.map(({ payload }) => (payload.parts as { text: string }[])[0]?.text)).toEqual(
    numbers(900).map((n) => `${n} `),
  );
  const { rowCount } = await database.query(`select from event where task_key = $1 and kind = 'ARTIFACT'`, [task.key]);
  expect(rowCount).toBeLessThanOrEqual(Math.ceil(900 / 64) + 1);
  expect(await row('select first_seq, last_seq, size from artifact where task_key = $1', [task.key])).toEqual({
    first_seq: 7,
    last_seq: 906,
    size: numbers(900).join(' ').length + 1,
  });
});

test('a report that was stored is not stored again', async () => {
  const task = await world.working();
  await task.chunk('one', { n: 1 });
  await Promise.all([task.chunk('one', { n: 1 }), task.chunk('two', { n: 2 }), task.chunk('two', { n: 2 })]);
  expect((await world.readLog(task.key)).filter(({ kind }) => kind === 'ARTIFACT')).toHaveLength(2);
});

test('an artifact that is sent anew replaces the former one', async () => {
  const task = await world.working();
  await Promise.all([
    task.chunk('long text'),
    task.chunk('short', { append: false }),
    task.chunk('er', { lastChunk: true }),
  ]);
  expect(await row('select size, complete from artifact where task_key = $1', [task.key])).toEqual({
    size: 7,
    complete: true,
  });
});

test('a guilty command fails alone', async () => {
  const [one, other] = [await world.working(), await world.working()];
  const chunk = { artifactId: 'no text may hold a \0', parts: [], append: true, lastChunk: false };
  const guilty = () => world.writer.submit({ kind: 'artifact', task: other.key, fence: other.fence, chunk });
  const results = await Promise.allSettled([
    one.chunk('fine'),
    guilty(),
    one.chunk('fine too'),
    other.chunk('also fine'),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect((await world.readLog(one.key)).filter(({ kind }) => kind === 'ARTIFACT')).toHaveLength(2);
  expect((await world.readLog(other.key)).map(({ seq }) => seq)).toEqual(numbers(7));
});

test('a task that is not there, a former delivery and a stranger are refused, and nothing is written', async () => {
  const task = await world.working();
  const before = await taskRow(task.key);
  const submit = (change: object) =>
    world.writer.submit({ kind: 'progress', task: task.key, fence: task.fence, ...change });
  await expect(submit({ task: randomUUID() })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(submit({ fence: { ...task.fence, delivery: 7 } })).rejects.toMatchObject({ code: 'STALE_DELIVERY' });
  await expect(submit({ fence: { ...task.fence, holder: randomUUID() } })).rejects.toMatchObject({
    code: 'STALE_DELIVERY',
  });
  await expect(submit({ fence: { ...task.fence, agent: randomUUID() } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await taskRow(task.key)).toEqual(before);
});

test('an id that was used before is refused, and nothing of the second try is left', async () => {
  const context = await world.newContext();
  const first = world.create(context);
  await world.writer.submit(first);
  const sameTask = world.create(context, { id: first.created.id });
  const sameMessage = world.create(context, { messageId: first.message.id });
  await expect(world.writer.submit(sameTask)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  await expect(world.writer.submit(sameMessage)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  const again = {
    kind: 'followUp',
    task: first.task,
    actor: 'ada',
    message: message('other', first.message.id),
  } as const;
  await expect(world.writer.submit(again)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  expect(await row('select count(*)::int as tasks from task where context_key = $1', [context])).toEqual({ tasks: 1 });
  expect(await row('select waiting from lane where context_key = $1', [context])).toEqual({ waiting: 1 });
});

test('tasks of one context wait for each other, in order', async () => {
  const context = await world.newContext();
  const creates = numbers(3).map(() => world.create(context, { holder: randomUUID() }));
  const answers = [];
  for (const create of creates) answers.push((await world.writer.submit(create)).task);
  expect(answers.map(({ deliveryState }) => deliveryState)).toEqual(['DELIVERED', 'QUEUED', 'QUEUED']);
  const lane = () => row('select running, head, waiting from lane where context_key = $1', [context]);
  expect(await lane()).toEqual({ running: creates[0]?.task, head: creates[1]?.task, waiting: 2 });

  const taker = { holder: randomUUID(), instance: randomUUID() };
  const take = async (index: number) =>
    (await world.writer.submit({ kind: 'take', task: creates[index]?.task ?? '', agent: world.agent, taker })).task
      .deliveryState;
  expect(await take(1)).toBe('QUEUED'); // the place is taken
  const fence = { agent: world.agent, delivery: 1, holder: creates[0]?.taker?.holder ?? '' };
  await world.writer.submit({ kind: 'complete', task: creates[0]?.task ?? '', fence });
  expect(await row('select kind from deadline where task_key = $1', [creates[1]?.task])).toEqual({ kind: 'TTL' }); // from now on
  expect(await take(2)).toBe('QUEUED'); // not its turn
  expect(await take(1)).toBe('DELIVERED');
  expect(await lane()).toEqual({ running: creates[1]?.task, head: creates[2]?.task, waiting: 1 });
});

test('connections that are cut under way lose nothing and double nothing', async () => {
  const tasks = await Promise.all(numbers(8).map(() => world.working()));
  let isDone = false;
  const cutter = (async () => {
    for (let cuts = 0; cuts < 25 && !isDone; cuts++)
      await database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'baton writer' and datname = current_database()",
      );
  })();
  await Promise.all(tasks.flatMap((task) => numbers(300).map((n) => task.chunk(`${n} `, { n }))));
  isDone = true;
  await cutter;
  for (const task of tasks) {
    const log = await world.readLog(task.key);
    expect(log.map(({ seq }) => seq)).toEqual(numbers(306));
    expect(
      log
        .filter(({ kind }) => kind === 'ARTIFACT')
        .map(({ payload }) => (payload.parts as { text: string }[])[0]?.text),
    ).toEqual(numbers(300).map((n) => `${n} `));
  }
});

test('a line of 9,999 is full, and the refusal is made on fresh heads', async () => {
  const context = await world.newContext();
  await world.writer.submit(world.create(context));
  await database.query('update lane set waiting = 9999, version = version + 1 where context_key = $1', [context]);
  await expect(world.writer.submit(world.create(context))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  await database.query('update lane set waiting = 1, version = version + 1 where context_key = $1', [context]);
  expect((await world.writer.submit(world.create(context))).task.deliveryState).toBe('QUEUED');
});

test('a task with too much pending is refused more', async () => {
  const task = await world.working();
  const results = await Promise.allSettled(numbers(1_200).map((n) => task.chunk(`${n}`)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_000);
  expect(results.find((result) => result.status === 'rejected')).toMatchObject({ reason: { code: 'RATE_LIMITED' } });
  await until(() => world.writer.pendingOf(task.key) === 0, 'the rest to be written');
});
