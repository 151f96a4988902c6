import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase, waitingForLock } from '../support/database.ts';
import { startDelayingProxy } from '../support/delaying-proxy.ts';
import { until } from '../support/until.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let proxy: Awaited<ReturnType<typeof startDelayingProxy>>;
let world: Awaited<ReturnType<typeof createWorld>>;
const chunks = async () =>
  (await database.query(`select sum(seq - first_seq + 1)::int as stored from event where kind = 'ARTIFACT'`)).rows[0]
    .stored;

beforeAll(async () => {
  const isWaiting = async () => (await database.query(waitingForLock)).rows[0].waiting > 0;
  const hasArrived = async () => (await chunks()) || (await isWaiting());
  proxy = await startDelayingProxy(database.url, () => until(hasArrived, 'the late flush to be committed, or to wait'));
  world = await createWorld({ ...database, url: proxy.url });
});
afterAll(async () => {
  await world.close();
  await proxy.stop();
});

test('a flush that arrives after its sender has looked it up in vain is not written twice', async () => {
  const task = await world.working();
  await task.report({ kind: 'acknowledge' });
  proxy.delayNextFlush();
  await task.chunk('once', { append: false });
  expect(await chunks()).toBe(1);
});
