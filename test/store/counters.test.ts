import { afterAll, beforeAll, expect, test } from 'vitest';
import { createQueueStore } from '../../src/store/queue.ts';
import { useDatabase } from '../support/database.ts';
import { recordStatements } from '../support/statements.ts';
import { createWorld } from '../support/world.ts';

// Exact numbers, not times: what the store really sends, and what it costs PostgreSQL.

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
/** What the statements of the writer are for, in order. */
const kinds = (sent: { text: string }[]) =>
  sent.map(({ text }) => text.match(/flush_v2|from task t|from lane/)?.[0] ?? text);

test('a task that is created and handed over at once costs one statement, which is one commit', async () => {
  const create = world.create(await world.newContext(), { holder: crypto.randomUUID() });
  const sent = recordStatements();
  await world.writer.submit(create);
  expect(kinds(sent)).toEqual(['flush_v2']);
});

test('64 chunks that wait together cost one statement, the chunks of 8 tasks too', async () => {
  const tasks = await Promise.all(numbers(8).map(() => world.working()));
  const sent = recordStatements();
  await Promise.all(numbers(64).map((n) => tasks[0]?.chunk(`${n}`)));
  expect(kinds(sent)).toEqual(['flush_v2']);
  await Promise.all(tasks.flatMap((task) => numbers(64).map((n) => task.chunk(`${n}`))));
  expect(kinds(sent)).toEqual(['flush_v2', 'flush_v2']);
});

test('a whole task of 100 chunks, streamed, costs few commits', async () => {
  const sent = recordStatements();
  const task = await world.working();
  const statements = sent.filter(({ text }) => text.includes('flush_v2')).length;
  await Promise.all([...numbers(100).map((n) => task.chunk(`${n}`)), task.report({ kind: 'complete' })]);
  const all = kinds(sent.slice(statements)).filter((kind) => kind === 'flush_v2');
  expect(all.length + statements).toBeLessThanOrEqual(4);
});

test('a command on heads that are not known reads tasks once and lanes once, however many they are', async () => {
  const tasks = await Promise.all(numbers(20).map(() => world.working()));
  const other = await createWorld(database);
  const sent = recordStatements();
  await Promise.all(
    tasks.map(({ key }) => other.writer.submit({ kind: 'cancel', task: key, actor: 'ada', reason: 'REQUESTED' })),
  );
  expect(kinds(sent)).toEqual(['from task t', 'from lane', 'flush_v2']);
  await other.close();
});

test('a chunk costs the same row changes, the first and the 1,000th', async () => {
  const task = await world.working();
  const rows = async () =>
    Number((await database.query('select count(*) from event where task_key = $1', [task.key])).rows[0].count);
  await task.chunk('first');
  const before = await rows();
  for (let round = 0; round < 9; round++) await Promise.all(numbers(111).map((n) => task.chunk(`${n}`)));
  expect((await rows()) - before).toBe(9 * 2); // 111 chunks a round: 64 and 47
  const size = await rows();
  await task.chunk('last');
  expect((await rows()) - size).toBe(1);
});

test('updates for chunks stay on their page: nothing that changes with them is in an index', async () => {
  const streaming = await createWorld(database);
  const task = await streaming.working();
  for (const n of numbers(200)) await task.chunk(`${n}`);
  await streaming.close(); // which hands in its statistics
  const { rows } = await database.query(
    "select relname, n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname in ('task', 'artifact')",
  );
  for (const { updates, hot } of rows) {
    expect(updates).toBeGreaterThanOrEqual(199);
    expect(hot / updates).toBeGreaterThan(0.9);
  }
});

test('finding work reads as few blocks among 200,000 lanes as among 1,000', async () => {
  const queue = createQueueStore(world.pool);
  const sent = recordStatements();
  const blocks = async (lanes: number): Promise<number> => {
    await database.query('truncate lane');
    await database.query(
      `insert into lane (agent_id, context_key, version, head, head_rank, waiting)
       select $1, gen_random_uuid(), 1, gen_random_uuid(), n, 1 from generate_series(1, $2::int) n`,
      [world.agent, lanes],
    );
    await database.query('vacuum analyze lane');
    await queue.readReady([world.agent], 64);
    const { text, values } = sent.findLast((statement) => statement.text.includes('head_rank')) ?? {
      text: '',
      values: [],
    };
    const { rows } = await database.query(`explain (analyze, buffers, format json) ${text}`, values);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  const [few, many] = [await blocks(1_000), await blocks(200_000)];
  expect(many).toBeLessThanOrEqual(few + 5);
  expect(many).toBeLessThanOrEqual(80); // 64 lanes are asked for
});
