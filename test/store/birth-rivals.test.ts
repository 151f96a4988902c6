import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());

// Two tasks of one context are made in one flush, and one of them has an id that is taken: both are missed and decided again.
// Of the other one nothing may stay behind from the first try.

test('a task that is made together with one whose id is taken comes to be whole', async () => {
  const context = await world.newContext();
  const first = world.create(await world.newContext());
  await world.writer.submit(first);

  const innocent = world.create(context);
  const rival = world.create(context, { id: first.created.id });
  const [made, refused] = await Promise.allSettled([world.writer.submit(innocent), world.writer.submit(rival)]);

  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'IDEMPOTENCY_CONFLICT' } });
  expect(made).toMatchObject({ status: 'fulfilled', value: { task: { state: 'SUBMITTED' } } });
  expect((await world.readLog(innocent.task)).map(({ kind, to }) => [kind, to])).toEqual([
    ['STATUS', 'SUBMITTED'],
    ['MESSAGE', null],
    ['DELIVERY', 'QUEUED'],
  ]);
});

test('a task that is refused leaves no row', async () => {
  const context = await world.newContext();
  const first = world.create(await world.newContext());
  await world.writer.submit(first);
  const rivals = [world.create(context, { id: first.created.id }), world.create(context)];
  await Promise.allSettled(rivals.map((each) => world.writer.submit(each)));
  const { rows } = await database.query(
    'select key from task where not exists (select from event where task_key = task.key)',
  );
  expect(rows).toEqual([]);
});
