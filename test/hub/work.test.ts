import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { type HubRoom, openHubRoom } from '../support/hub-room.ts';
import { until } from '../support/until.ts';

const database = useDatabase();
let room: HubRoom;
beforeAll(async () => {
  room = await openHubRoom(database);
});
afterAll(() => room.close());
beforeEach(() => room.reset());

const stateOf = (task: string) =>
  room.row('select state, reason, delivery_state, last_n, holder from task where key = $1', [task]);
const resultOf = async (task: string) =>
  (await room.row('select result, usage from task_detail where task_key = $1', [task])) ?? {};
const chunk = (text: string, id = 'a') => ({ artifact: { artifact_id: id, parts: [{ type: 'text', text }] } });

test('a task is handed over with all that an agent needs to know', async () => {
  const client = await room.connect();
  const context = await room.newContext();
  const task = await room.submit({ context });
  await room.act({ kind: 'followUp', task, actor: 'ada', message: { ...room.message('and'), kind: 'MESSAGE' } });
  await room.dispatch();
  const { params } = await client.nextOf('task.execute');
  expect(params).toEqual({
    id: task,
    task_id: task,
    delivery: 1,
    seq: expect.any(Number),
    context_id: context,
    message: { message_id: expect.any(String), role: 'user', parts: [{ type: 'text', text: 'hello' }] },
    history: [
      {
        message_id: expect.any(String),
        role: 'user',
        author: 'ada',
        kind: 'message',
        in_reply_to: null,
        parts: [{ type: 'text', text: 'and' }],
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ],
    priority: 'normal',
    deadline: expect.stringMatching(/^\d{4}-.*Z$/),
    metadata: {
      color: 'blue',
      chat_id: null,
      requester: 'ada',
      executor: 'echo',
      user_id: expect.any(String),
      skill_used: null,
    },
  });
});

test('what waited is handed over when an agent registers', async () => {
  const task = await room.submit();
  const client = await room.connect();
  expect((await client.nextOf('task.execute')).params).toMatchObject({ task_id: task });
});

test('the answer to task.execute acknowledges', async () => {
  const { client, task, id } = await room.working();
  client.answer(id, { accepted: true });
  await until(async () => (await stateOf(task)).delivery_state === 'ACKED', 'the acknowledgement');
});

test('an error in answer to task.execute rejects the task with its message', async () => {
  const { client, task, id } = await room.working();
  client.refuse(id, 'not \0my thing \ud800');
  await until(async () => (await stateOf(task)).state === 'REJECTED', 'the rejection');
  expect(await resultOf(task)).toMatchObject({ result: 'not my thing \ufffd' });
});

test('task.ack acknowledges, and its answer tells the seq', async () => {
  const { client, task } = await room.working();
  const { result } = await client.request('task.ack', { task_id: task, delivery: 1 });
  expect(await stateOf(task)).toMatchObject({ state: 'SUBMITTED', delivery_state: 'ACKED' });
  expect(await room.row('select last_seq as seq from task where key = $1', [task])).toEqual(result);
});

test('a task goes its way in notifications, and the next one of the context follows', async () => {
  const client = await room.connect();
  const context = await room.newContext();
  const [task, next] = [await room.submit({ context }), await room.submit({ context })];
  await room.dispatch();
  const { id } = await client.nextOf('task.execute');
  client.answer(id);
  client.notify('task.status', { task_id: task, status: { state: 'working', message: { parts: [{ text: 'so' }] } } });
  client.notify('task.artifact', { task_id: task, ...chunk('4'), append: true });
  client.notify('task.artifact', { task_id: task, ...chunk('2'), append: true, last_chunk: true });
  client.notify('task.complete', {
    task_id: task,
    status: { state: 'completed', message: { role: 'agent', parts: [{ kind: 'text', text: 'done' }] } },
    usage: { tokens: 3 },
    final: true,
  });
  expect((await client.nextOf('task.execute')).params).toMatchObject({ task_id: next });
  expect(await stateOf(task)).toMatchObject({ state: 'COMPLETED' });
  expect(await resultOf(task)).toEqual({ result: 'done', usage: { tokens: 3 } });
  const log = await room.readLog(task);
  expect(log.map(({ kind, to }) => to ?? kind)).toEqual([
    'SUBMITTED',
    'MESSAGE',
    'QUEUED',
    'DELIVERED',
    'ACKED',
    'WORKING',
    'WORKING',
    'ARTIFACT',
    'ARTIFACT',
    'MESSAGE',
    'ENDED',
    'COMPLETED',
  ]);
  expect(client.received).toEqual([]);
});

test('input-required ends the turn; the answer is a new delivery', async () => {
  const { client, task } = await room.working();
  const status = { state: 'input-required', message: { parts: [{ text: 'which?' }] } };
  await client.request('task.status', { task_id: task, status });
  expect(await stateOf(task)).toMatchObject({ state: 'INPUT_REQUIRED', delivery_state: 'ENDED' });
  await room.act({ kind: 'followUp', task, actor: 'ada', message: room.message('that') });
  await room.dispatch();
  const { params } = await client.nextOf('task.execute');
  expect(params).toMatchObject({ delivery: 2, message: { parts: [{ text: 'that' }] } });
  expect(params.history).toMatchObject([
    { role: 'user' },
    { role: 'agent', author: 'echo', parts: [{ text: 'which?' }] },
  ]);
  expect(
    (await client.request('task.complete', { task_id: task, status: { state: 'completed' } })).result,
  ).toBeDefined();
});

test.each([
  ['failed', 'FAILED'],
  ['canceled', 'CANCELED'],
  ['rejected', 'REJECTED'],
])('task.complete with state %s ends the task', async (state, ended) => {
  const { client, task } = await room.working();
  await client.request('task.complete', { task_id: task, status: { state, message: 'why' } });
  expect(await stateOf(task)).toMatchObject({ state: ended });
  expect(await resultOf(task)).toMatchObject({ result: 'why' });
  await client.settled();
  expect(client.received).toEqual([]);
});

test('parts come in every shape and are kept as one', async () => {
  const { client, task } = await room.working();
  const parts = [
    { type: 'text', text: 'a' },
    { kind: 'text', text: 'b' },
    { text: 'c' },
    { type: 'data', data: { x: [1] }, metadata: { m: 1 } },
    { url: 'https://x.example/f', filename: 'f', media_type: 'text/plain' },
    { kind: 'file', file: { bytes: 'AAAA', name: 'g', mimeType: 'image/png' } },
  ];
  await client.request('task.artifact', { task_id: task, artifact: { artifact_id: 'a', parts } });
  expect((await room.readLog(task)).at(-1)?.payload.parts).toEqual([
    { text: 'a' },
    { text: 'b' },
    { text: 'c' },
    { data: { x: [1] }, metadata: { m: 1 } },
    { url: 'https://x.example/f', filename: 'f', mediaType: 'text/plain' },
    { raw: 'AAAA', filename: 'g', mediaType: 'image/png' },
  ]);
});

test.each([
  ['task.ack', {}, 'task_id is missing'],
  ['task.ack', { task_id: 'x' }, 'task_id is not a UUID'],
  ['task.ack', { task_id: 1 }, 'task_id is not a string'],
  ['task.ack', { delivery: 'one' }, 'delivery is not a number'],
  ['task.ack', { n: 0 }, 'n is not a whole number from 1 on'],
  ['task.status', {}, 'status is missing'],
  ['task.status', { status: 'working' }, 'status is not an object'],
  ['task.status', { status: {} }, 'status.state is not a string'],
  ['task.status', { status: { state: 'WORKING' } }, expect.stringContaining('status.state is not one of submitted')],
  ['task.status', { status: { state: 'submitted' } }, 'An agent cannot report SUBMITTED'],
  ['task.status', { status: { state: 'working', message: 7 } }, 'status.message is not an object'],
  ['task.status', { status: { state: 'working', message: { parts: 7 } } }, 'status.message.parts is not a list'],
  [
    'task.status',
    { status: { state: 'working', message: { parts: [7] } } },
    'status.message.parts[0] is not an object',
  ],
  ['task.status', { status: { state: 'working', message: { parts: [{}] } } }, expect.stringContaining('exactly one')],
  ['task.complete', { status: { state: 'working' } }, expect.stringContaining('one of completed')],
  ['task.complete', { status: { state: 'expired' } }, expect.stringContaining('one of completed')],
  ['task.artifact', {}, 'artifact is missing'],
  ['task.artifact', { artifact: { parts: [] } }, 'artifact_id is missing'],
  ['task.artifact', { artifact: { artifact_id: '' } }, expect.stringContaining('1 to 128')],
  ['task.artifact', { artifact: { artifact_id: 'a', parts: [{ text: 7 }] } }, 'text is not a string'],
  ['task.artifact', { artifact: { artifact_id: 'a' }, append: 'yes' }, 'append is not a boolean'],
])('%s with %j is refused as BAD_INPUT, and nothing changes', async (method, params, message) => {
  const { client, task } = await room.working();
  const before = await room.readLog(task);
  const given = 'task_id' in params || message === 'task_id is missing' ? params : { task_id: task, ...params };
  expect((await client.request(method, given)).error).toMatchObject({
    code: -32602,
    message,
    data: { code: 'BAD_INPUT' },
  });
  expect(await room.readLog(task)).toEqual(before);
});

test('a refused notification is told by the notification error', async () => {
  const { client } = await room.working();
  const other = randomUUID();
  client.notify('task.status', { task_id: other, status: { state: 'working' } });
  expect((await client.nextOf('error')).params).toEqual({
    code: 'NOT_FOUND',
    message: expect.any(String),
    task_id: other,
    method: 'task.status',
  });
});

test('a report on a finished task is ILLEGAL_TRANSITION, and nothing changes', async () => {
  const { client, task } = await room.working();
  await client.request('task.complete', { task_id: task, status: { state: 'completed' } });
  const before = await room.readLog(task);
  for (const delivery of [undefined, 1]) {
    const { error } = await client.request('task.artifact', { task_id: task, delivery, ...chunk('late') });
    expect(error).toMatchObject({ code: -32004, data: { code: 'ILLEGAL_TRANSITION', state: 'COMPLETED' } });
  }
  expect((await client.request('task.ack', { task_id: task })).error?.data).toMatchObject({ code: 'STALE_DELIVERY' });
  expect(await room.readLog(task)).toEqual(before);
});

test('the same task.complete is answered the same, also on another connection', async () => {
  const { client, task } = await room.working();
  const complete = { task_id: task, delivery: 1, status: { state: 'completed' } };
  const first = await client.request('task.complete', complete);
  expect(first.result).toMatchObject({ seq: expect.any(Number) });
  expect((await client.request('task.complete', complete)).result).toEqual(first.result);
  const other = await room.connect();
  expect((await other.request('task.complete', { ...complete, delivery: undefined })).result).toEqual(first.result);
  const failed = { ...complete, status: { state: 'failed' } };
  expect((await other.request('task.complete', failed)).error?.data).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
});

test('a repeated n is answered and not stored again; a gap is refused', async () => {
  const { client, task } = await room.working();
  const report = (n: number) => client.request('task.artifact', { task_id: task, n, ...chunk(`${n}`), append: true });
  expect((await report(1)).result).toBeDefined();
  const { result } = await report(2);
  expect((await report(2)).result).toEqual(result);
  expect((await report(4)).error).toMatchObject({ code: -32602, data: { code: 'BAD_INPUT', expected: 3, actual: 4 } });
  const texts = (await room.readLog(task)).filter(({ kind }) => kind === 'ARTIFACT');
  expect(texts.map(({ payload }) => payload.parts)).toEqual([[{ text: '1' }], [{ text: '2' }]]);
  expect((await stateOf(task)).last_n).toBe(2);
});

test('another agent’s task is NOT_FOUND, also with its delivery', async () => {
  const other = await openHubRoom(database);
  const theirs = await other.working();
  const client = await room.connect();
  const { error } = await client.request('task.ack', { task_id: theirs.task, delivery: 1 });
  expect(error).toMatchObject({ code: -32003, data: { code: 'NOT_FOUND', task_id: theirs.task } });
  await other.close();
});

test('reports keep their order behind one that has to be looked up', async () => {
  const { client, task } = await room.working();
  client.socket.terminate();
  await until(async () => (await stateOf(task)).holder === null, 'the loss');
  const again = await room.connect();
  for (let n = 1; n <= 50; n++) again.notify('task.artifact', { task_id: task, n, ...chunk(`${n}`), append: true });
  await again.request('task.complete', { task_id: task, n: 51, status: { state: 'completed' } });
  const chunks = (await room.readLog(task)).filter(({ kind }) => kind === 'ARTIFACT');
  expect(chunks.map(({ payload }) => payload.parts)).toEqual(
    Array.from({ length: 50 }, (_, n) => [{ text: `${n + 1}` }]),
  );
  expect(again.received).toEqual([]);
});

test('a connection takes as much at once as it said', async () => {
  const client = await room.connect({ capacity: 2 });
  const tasks = [await room.submit(), await room.submit(), await room.submit()];
  await room.dispatch();
  const [first, second] = [await client.nextOf('task.execute'), await client.nextOf('task.execute')];
  await client.settled();
  expect(client.received).toEqual([]);
  await client.request('task.complete', { task_id: first.params.task_id, status: { state: 'completed' } });
  const third = await client.nextOf('task.execute');
  expect([first, second, third].map(({ params }) => params.task_id).sort()).toEqual(tasks.sort());
});

test('two connections of an agent share the work: the idlest takes, while it has room', async () => {
  const clients = [await room.connect({ capacity: 2 }), await room.connect()];
  const handed: number[][] = [];
  for (let n = 0; n < 6; n++) {
    await room.submit();
    await room.dispatch();
    for (const client of clients) await client.settled();
    handed.push(clients.map(({ received }) => received.length));
  }
  expect(handed[1]).toEqual([1, 1]);
  expect(handed[3]).toEqual([2, 2]);
  expect(handed[5]).toEqual([2, 4]);
});
