import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contextKey } from '../../src/core/context.ts';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());

/** A create in a context that nobody has used before. */
const createIn = (id: string, change: Parameters<typeof world.create>[1] = {}) => {
  const create = world.create('', change);
  const context = contextKey({ network: world.network, owner: create.created.user, id });
  return { ...create, created: { ...create.created, context, contextId: id } };
};
const contexts = async (id: string) =>
  (await database.query('select key from context where id = $1', [id])).rows.map(({ key }) => key);

test('a context is made in the commit of its first task, also by two at once', async () => {
  const [one, other] = [createIn('trip'), createIn('trip')];
  await Promise.all([world.writer.submit(one), world.writer.submit(other)]);
  expect(await contexts('trip')).toEqual([one.created.context]);
  const { rows } = await database.query('select count(*)::int from task where context_key = $1', [one.created.context]);
  expect(rows).toEqual([{ count: 2 }]);
});

test('a task that is refused leaves no context behind', async () => {
  const messageId = randomUUID();
  await world.writer.submit(createIn('first', { messageId }));
  await expect(world.writer.submit(createIn('second', { messageId }))).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  expect(await contexts('second')).toEqual([]);
});
