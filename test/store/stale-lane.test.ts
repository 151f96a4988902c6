import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());

test('a last chunk and the end of a task, sent together, are missed once when the lane has moved on', async () => {
  const task = await world.working();
  await task.report({ kind: 'acknowledge' });
  await task.chunk('first', { append: false });
  await database.query('update lane set version = version + 1 where running = $1', [task.key]); // as another instance does
  const before = world.flushes();
  await Promise.all([task.chunk('last'), task.report({ kind: 'complete' })]);
  expect(world.flushes() - before).toBeLessThanOrEqual(2);
});
