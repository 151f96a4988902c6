import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Presence } from '../../src/core/presence.ts';
import { createPresence } from '../../src/store/presence.ts';
import { createQueueStore } from '../../src/store/queue.ts';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
let presence: Presence;
let instance: string;
beforeAll(async () => {
  world = await createWorld(database);
  presence = createPresence(world.pool);
});
afterAll(() => world.close());
beforeEach(async () => {
  await database.query('truncate task, instance cascade');
  instance = randomUUID();
  await createQueueStore(world.pool).renew(instance, 3_600);
});

const connect = async (takesOver = false) => {
  const id = randomUUID();
  await presence.connect({ id, agent: world.agent, instance, takesOver });
  return id;
};
const connected = async () => (await database.query('select id from connection')).rows.map(({ id }) => id);

test('a connection stands beside the agent’s others, or takes over from them', async () => {
  const [one, other] = [await connect(), await connect()];
  expect((await connected()).sort()).toEqual([one, other].sort());
  const last = await connect(true);
  expect(await connected()).toEqual([last]);
  expect((await presence.readReplaced([one, last, other])).sort()).toEqual([one, other].sort());
});

test('of many that take over at once one stays', async () => {
  await Promise.all(Array.from({ length: 8 }, () => connect(true)));
  expect(await connected()).toHaveLength(1);
});

test('who cannot stay sends nobody away', async () => {
  const first = await connect();
  const away = { id: randomUUID(), agent: world.agent, instance: randomUUID() };
  for (const takesOver of [false, true])
    await expect(presence.connect({ ...away, takesOver })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await connected()).toEqual([first]);
});

test('connections go with their instance', async () => {
  const id = await connect();
  await database.query('delete from instance');
  expect(await presence.readReplaced([id])).toEqual([id]);
});

test('a task is found by its public id, for its executor alone', async () => {
  const create = world.create(await world.newContext(), { id: randomUUID() });
  await world.writer.submit(create);
  expect(await presence.findTask(world.agent, create.created.id)).toMatchObject({
    head: { key: create.task, id: create.created.id, delivery: 1, deliveryState: 'QUEUED', seq: 3 },
    isHeldAlive: false,
  });
  expect(await presence.findTask(randomUUID(), create.created.id)).toBeUndefined();
  expect(await presence.findTask(world.agent, randomUUID())).toBeUndefined();
});

test('a task is held alive while its connection has a row and the instance is not overdue', async () => {
  const holder = await connect();
  const create = world.create(await world.newContext(), { holder });
  await world.writer.submit(create);
  const isHeldAlive = async () => (await presence.findTask(world.agent, create.task))?.isHeldAlive;
  expect(await isHeldAlive()).toBe(true);
  await database.query("update instance set until = now() - interval '1 second'");
  expect(await isHeldAlive()).toBe(false);
  await createQueueStore(world.pool).renew(instance, 3_600);
  expect(await isHeldAlive()).toBe(true);
  await presence.disconnect({ id: holder, agent: world.agent });
  expect(await isHeldAlive()).toBe(false);
});

test('rows that an instance could not remove when their sockets ended go with its next look', async () => {
  const [alive, forgotten] = [await connect(), await connect()];
  const elsewhere = randomUUID();
  await createQueueStore(world.pool).renew(elsewhere, 3_600);
  const other = randomUUID();
  await presence.connect({ id: other, agent: world.agent, instance: elsewhere, takesOver: false });
  await presence.sweep(instance, [alive]);
  expect((await connected()).sort()).toEqual([alive, other].sort());
  expect(await connected()).not.toContain(forgotten);
});
