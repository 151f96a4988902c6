import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { type HubRoom, openHubRoom } from '../support/hub-room.ts';
import { until } from '../support/until.ts';

const database = useDatabase();
let room: HubRoom;
beforeAll(async () => {
  room = await openHubRoom(database);
});
afterAll(() => room.close());

test('a flood of 20,000 chunks is stored in order, once each, and never more than 1,000 wait', async () => {
  const { client, task } = await room.working();
  const pendingOf = room.writer.pendingOf;
  let most = 0;
  room.writer.pendingOf = (key) => {
    const pending = pendingOf(key);
    most = Math.max(most, pending);
    return pending;
  };
  const count = 20_000;
  for (let n = 1; n <= count; n++)
    client.notify('task.artifact', {
      task_id: task,
      n,
      artifact: { artifact_id: 'a', parts: [{ text: `${n} ` }] },
      append: true,
    });
  const { result } = await client.request('task.complete', {
    task_id: task,
    n: count + 1,
    status: { state: 'completed' },
  });
  expect(result).toEqual({ seq: expect.any(Number) });
  expect(client.received).toEqual([]); // no refusal
  expect(most).toBe(1_000);
  expect(room.pauses()).toBeGreaterThan(0);
  const log = await room.readLog(task);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  const texts = log
    .filter(({ kind }) => kind === 'ARTIFACT')
    .map(({ payload }) => (payload.parts as { text: string }[])[0]?.text);
  expect(texts).toEqual(Array.from({ length: count }, (_, index) => `${index + 1} `));
});

test('who waits for others’ writes goes on when those are through', async () => {
  const { client, task } = await room.working();
  const pendingOf = room.writer.pendingOf;
  let isFull = true;
  let wasAsked = false;
  room.writer.pendingOf = (key) => {
    wasAsked = true;
    return isFull ? 1_000 : pendingOf(key);
  };
  const answer = client.request('task.status', { task_id: task, status: { state: 'working' } });
  const heartbeat = client.settled(); // waits behind it
  await until(() => wasAsked, 'the report to be read');
  room.wait(90_000);
  await room.hub.patrol(); // silence of a socket that is not read says nothing
  isFull = false;
  await room.hub.patrol();
  expect((await answer).result).toBeDefined();
  await heartbeat;
});

test('a flood over many tasks is slowed too: nothing is refused, and there is room for others', async () => {
  const writer = room.writer;
  const pending = writer.pending;
  let most = 0;
  writer.pending = () => {
    most = Math.max(most, pending());
    return pending();
  };
  const works = [];
  for (let count = 0; count < 30; count++) works.push(await room.working());
  const [first] = works;
  if (!first) throw new Error('Nobody works');
  for (let n = 1; n <= 900; n++)
    for (const { client, task } of works)
      client.notify('task.artifact', {
        task_id: task,
        n,
        artifact: { artifact_id: 'a', parts: [{ text: 'x' }] },
        append: true,
      });
  const answers = works.map(({ client, task }) =>
    client.request('task.complete', { task_id: task, n: 901, status: { state: 'completed' } }),
  );
  for (const { result } of await Promise.all(answers)) expect(result).toEqual({ seq: expect.any(Number) });
  for (const { client } of works) expect(client.received).toEqual([]); // no refusal
  expect(most).toBeLessThanOrEqual(10_000);
});
