import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { type HubRoom, openHubRoom } from '../support/hub-room.ts';
import { until } from '../support/until.ts';
import { startWriter } from '../support/writers.ts';

const database = useDatabase();
let room: HubRoom;
beforeAll(async () => {
  room = await openHubRoom(database);
});
afterAll(() => room.close());
beforeEach(() => room.reset());

const cancel = (task: string, text?: string) =>
  ({ kind: 'cancel', task, actor: 'ada', reason: 'REQUESTED', ...(text && { text }) }) as const;
const fallDue = (kind: string) =>
  database.query("update deadline set at = now() - interval '1 second' where kind = $1::deadline_kind", [kind]);
const confirmedAt = async (task: string) =>
  (await room.row('select confirmed_at from delivery where task_key = $1 and number = 1', [task]))?.confirmed_at;
const confirmed = (task: string) => until(() => confirmedAt(task), 'the confirmation');
const places = async () => (await database.query('select from lane where running is not null')).rowCount;
const completed = (task: string, state = 'completed') => ({ task_id: task, delivery: 1, status: { state } });

test('a cancelled task is stopped; the agent’s answer confirms and frees its place', async () => {
  const { client, task } = await room.working();
  await room.act(cancel(task, 'enough'));
  const { id, params } = await client.nextOf('task.cancel');
  expect(params).toEqual({ task_id: task, delivery: 1, reason: 'REQUESTED', text: 'enough' });
  expect(await confirmedAt(task)).toBeNull();
  expect(await places()).toBe(1);
  client.answer(id);
  await confirmed(task);
  expect(await places()).toBe(0);
});

test('task.complete with state canceled confirms too', async () => {
  const { client, task } = await room.working();
  await room.act(cancel(task));
  await client.nextOf('task.cancel');
  expect((await client.request('task.complete', completed(task, 'canceled'))).result).toEqual({
    seq: expect.any(Number),
  });
  await confirmed(task);
  expect(await places()).toBe(0);
});

test('an error in answer to task.cancel confirms nothing', async () => {
  const { client, task } = await room.working();
  await room.act(cancel(task));
  client.refuse((await client.nextOf('task.cancel')).id, 'unknown method');
  await client.settled();
  expect(await places()).toBe(1);
  expect(await confirmedAt(task)).toBeNull();
});

test('a result that comes after the cancel is refused, and shows that the agent is free', async () => {
  const { client, task } = await room.working();
  await room.act(cancel(task));
  await client.nextOf('task.cancel');
  const { error } = await client.request('task.complete', completed(task));
  expect(error?.data).toMatchObject({ code: 'ILLEGAL_TRANSITION', state: 'CANCELED' });
  await confirmed(task);
});

test('a result that comes before the cancel stands', async () => {
  const { client, task } = await room.working();
  await client.request('task.complete', completed(task));
  await expect(room.act(cancel(task))).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  await client.settled();
  expect(client.received).toEqual([]);
});

test('an agent that stops just as it is cancelled is free at once', async () => {
  const { client, task } = await room.working();
  const [answer] = await Promise.all(
    [client.request('task.complete', completed(task, 'canceled')), room.act(cancel(task))].map((each) =>
      each.catch(() => undefined),
    ),
  );
  expect(answer).toMatchObject({ result: { seq: expect.any(Number) } });
  await until(async () => (await places()) === 0, 'the place');
});

test('a turn that took too long is stopped', async () => {
  const { client, task } = await room.working();
  await fallDue('TURN');
  await room.patrol();
  const { id, params } = await client.nextOf('task.cancel');
  expect(params).toMatchObject({ task_id: task, delivery: 1, reason: 'TIMEOUT' });
  client.answer(id);
  await confirmed(task);
});

test('task.complete with state canceled confirms also what ended otherwise', async () => {
  const { client, task } = await room.working();
  await fallDue('TURN');
  await room.patrol();
  await client.nextOf('task.cancel');
  expect((await client.request('task.complete', completed(task, 'canceled'))).result).toEqual({
    seq: expect.any(Number),
  });
  await confirmed(task);
  expect(await room.row('select state from task')).toEqual({ state: 'FAILED' });
});

test('what was not acknowledged in time is stopped, and its late acknowledgement refused', async () => {
  const { client, task, id } = await room.working();
  await fallDue('TTL');
  await room.patrol();
  expect((await client.nextOf('task.cancel')).params).toMatchObject({ task_id: task, reason: 'TTL' });
  client.answer(id);
  expect((await client.request('task.ack', { task_id: task })).error?.data).toMatchObject({ code: 'STALE_DELIVERY' });
  expect(await room.row('select state from task')).toEqual({ state: 'EXPIRED' });
});

test('a task that was reassigned is stopped at who had it', async () => {
  const { client, task } = await room.working();
  const other = randomUUID();
  await database.query(
    'insert into agent (id, network_id, owner_id, name) select $1, network_id, owner_id, $1::uuid::text from agent where id = $2',
    [other, room.agent],
  );
  const { executor } = room.create(room.agent).created;
  await room.act({ kind: 'reassign', task, actor: 'ada', executor: { ...executor, id: other, name: other } });
  const { id, params } = await client.nextOf('task.cancel');
  expect(params).toMatchObject({ task_id: task, delivery: 1, reason: 'REASSIGNED' });
  expect(
    (await client.request('task.status', { ...completed(task), status: { state: 'working' } })).error?.data,
  ).toMatchObject({
    code: 'NOT_FOUND',
  });
  client.answer(id);
  await confirmed(task);
});

test('a retried task comes back as another delivery, beside the stop of the first', async () => {
  const { client, task } = await room.working();
  await room.act(cancel(task));
  await room.act({ kind: 'retry', task, actor: 'ada' });
  const { id, params } = await client.nextOf('task.cancel');
  expect(params).toMatchObject({ delivery: 1 });
  client.answer(id);
  await confirmed(task);
  expect((await client.nextOf('task.execute')).params).toMatchObject({ task_id: task, delivery: 2 });
  expect(
    (await client.request('task.status', { task_id: task, delivery: 1, status: { state: 'working' } })).error?.data,
  ).toMatchObject({
    code: 'STALE_DELIVERY',
  });
  expect((await client.request('task.status', { task_id: task, status: { state: 'working' } })).result).toBeDefined();
});

test('an agent that was told to stop keeps its place at the connection for 15 s', async () => {
  const { client, task } = await room.working({ capacity: 1 });
  await room.act(cancel(task));
  await client.nextOf('task.cancel');
  const other = await room.submit();
  await room.dispatch();
  room.wait(14_000);
  await room.hub.patrol();
  await room.dispatch();
  await client.settled();
  expect(client.received).toEqual([]);
  room.wait(1_000);
  await room.hub.patrol();
  expect((await client.nextOf('task.execute')).params).toMatchObject({ task_id: other });
});

test('a place whose stop was not confirmed is free when the connection ends', async () => {
  const { client, task } = await room.working();
  await room.act(cancel(task));
  await client.nextOf('task.cancel');
  client.socket.terminate();
  await until(async () => (await places()) === 0, 'the place');
  expect(await confirmedAt(task)).toBeNull();
});

test('a cancel that another instance wrote reaches the agent here', async () => {
  const { client, task } = await room.working();
  const other = await startWriter(database, 'elsewhere');
  expect(await other.submit(cancel(task))).toMatchObject({ state: 'CANCELED' });
  await room.watchers.poll(); // as every second, or when it was rung for
  const { id, params } = await client.nextOf('task.cancel');
  expect(params).toMatchObject({ task_id: task, reason: 'REQUESTED' });
  client.answer(id);
  await confirmed(task);
});

test('a result that arrives before this instance hears of another’s cancel is refused; then the stop comes', async () => {
  const { client, task } = await room.working();
  const other = await startWriter(database, 'elsewhere');
  await other.submit(cancel(task));
  expect((await client.request('task.complete', completed(task))).error?.data).toMatchObject({
    code: 'ILLEGAL_TRANSITION',
  });
  await room.watchers.poll();
  expect((await client.nextOf('task.cancel')).params).toMatchObject({ task_id: task });
});
