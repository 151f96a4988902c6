import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AgentClient, openSocket } from '../support/agent-client.ts';
import { useDatabase } from '../support/database.ts';
import { agentToken, type HubRoom, openHubRoom } from '../support/hub-room.ts';
import { until } from '../support/until.ts';

const database = useDatabase();
let room: HubRoom;
beforeAll(async () => {
  room = await openHubRoom(database);
});
afterAll(() => room.close());
beforeEach(() => room.reset());

const taskOf = (task: string) =>
  room.row('select state, delivery, delivery_state, last_n, last_seq, holder from task where key = $1', [task]);
const lost = (task: string) => until(async () => (await taskOf(task)).holder === null, 'the loss');
const kill = async (client: AgentClient, task: string) => {
  client.socket.terminate();
  await lost(task);
};
const chunk = (task: string, n: number) => ({
  task_id: task,
  n,
  artifact: { artifact_id: 'a', parts: [{ text: `${n}` }] },
  append: true,
});
const textOf = async (task: string) =>
  (await room.readLog(task))
    .filter(({ kind }) => kind === 'ARTIFACT')
    .map(({ payload }) => (payload.parts as { text: string }[])[0]?.text)
    .join(' ');
const working = (task: string, delivery?: number) => ({ task_id: task, delivery, status: { state: 'working' } });

/** Comes back, and says what it was working on. */
const comeBack = async (...resume: { task_id: string; delivery: number; last_seq?: number }[]) => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  const { result = {} } = await client.request('agent.register', { agent_name: 'echo', resume });
  await client.nextOf('connection.established');
  return { client, result };
};

test('an agent that died resumes what it did, and nothing is stored twice', async () => {
  const { client, task } = await room.working();
  client.notify('task.artifact', chunk(task, 1));
  await client.request('task.artifact', chunk(task, 2));
  client.notify('task.artifact', chunk(task, 3)); // nobody knows whether it arrived
  await kill(client, task);

  const { client: again, result } = await comeBack({ task_id: task, delivery: 1, last_seq: 0 });
  expect(result).toMatchObject({ resumed: [task], last_n: { [task]: expect.any(Number) } });
  const lastN = (result.last_n as Record<string, number>)[task] ?? 0;
  expect(lastN).toBeGreaterThanOrEqual(2);
  for (let n = lastN; n <= 5; n++) again.notify('task.artifact', chunk(task, n)); // one is repeated
  await again.request('task.complete', { task_id: task, delivery: 1, n: 6, status: { state: 'completed' } });
  expect(await textOf(task)).toBe('1 2 3 4 5');
  expect(await taskOf(task)).toMatchObject({ state: 'COMPLETED', delivery: 1 });
  expect(again.received).toEqual([]);
});

test('a zombie’s late report is STALE_DELIVERY, with and without its delivery', async () => {
  const { client: zombie, task } = await room.working();
  const { client } = await comeBack({ task_id: task, delivery: 1 }); // the hub has not noticed that the first is gone
  for (const delivery of [1, undefined])
    expect((await zombie.request('task.status', working(task, delivery))).error).toMatchObject({
      code: -32005,
      data: { code: 'STALE_DELIVERY', task_id: task },
    });
  zombie.notify('task.artifact', chunk(task, 1));
  expect((await zombie.nextOf('error')).params).toMatchObject({ code: 'STALE_DELIVERY', method: 'task.artifact' });
  expect((await client.request('task.artifact', chunk(task, 1))).result).toBeDefined();
  zombie.socket.terminate();
  await until(async () => (await database.query('select from connection')).rowCount === 1, 'the zombie’s end');
  expect(await taskOf(task)).toMatchObject({ delivery_state: 'WORKING', holder: expect.any(String) });
});

test('what is resumed keeps its place: a connection with capacity 1 takes nothing else', async () => {
  const { client, task } = await room.working();
  await kill(client, task);
  const other = await room.submit();
  const again = await room.connect({ capacity: 1, resume: [{ task_id: task, delivery: 1, last_seq: 0 }] });
  await room.dispatch();
  await again.settled();
  expect(again.received).toEqual([]);
  await again.request('task.complete', { task_id: task, status: { state: 'completed' } });
  expect((await again.nextOf('task.execute')).params).toMatchObject({ task_id: other });
});

test('messages that were missed follow, those that came with the task do not', async () => {
  const { client, task } = await room.working();
  const { result } = await client.request('task.status', working(task));
  const say = (text: string) =>
    room.act({ kind: 'followUp', task, actor: 'ada', message: { ...room.message(text), kind: 'MESSAGE' } });
  await say('heard');
  const { params } = await client.nextOf('message.new');
  await kill(client, task);
  await say('missed');

  const { client: knowing } = await comeBack({ task_id: task, delivery: 1, last_seq: params.seq as number });
  expect((await knowing.nextOf('message.new')).params).toMatchObject({
    task_id: task,
    message: { parts: [{ type: 'text', text: 'missed' }], author: 'ada', kind: 'message' },
  });
  await kill(knowing, task);
  const { client: forgetful } = await comeBack({ task_id: task, delivery: 1, last_seq: 0 });
  const texts = [await forgetful.nextOf('message.new'), await forgetful.nextOf('message.new')];
  expect(texts.map(({ params }) => params.message)).toMatchObject([
    { parts: [{ text: 'heard' }] },
    { parts: [{ text: 'missed' }] },
  ]);
  await forgetful.settled();
  expect(forgetful.received).toEqual([]);
  expect(result).toBeDefined();
});

test('a message that came with the task is not shown again to who knows nothing', async () => {
  const task = await room.submit();
  await room.act({ kind: 'followUp', task, actor: 'ada', message: { ...room.message('early'), kind: 'MESSAGE' } });
  const first = await room.connect();
  expect((await first.nextOf('task.execute')).params.history).toHaveLength(1);
  await kill(first, task);
  const { client } = await comeBack({ task_id: task, delivery: 1, last_seq: 0 });
  await room.act({ kind: 'followUp', task, actor: 'ada', message: { ...room.message('late'), kind: 'MESSAGE' } });
  expect((await client.nextOf('message.new')).params).toMatchObject({ message: { parts: [{ text: 'late' }] } });
});

test('a cancel that was missed follows, and its answer confirms', async () => {
  const { client, task } = await room.working();
  await kill(client, task);
  await room.act({ kind: 'cancel', task, actor: 'ada', reason: 'REQUESTED' });
  const { client: again, result } = await comeBack({ task_id: task, delivery: 1 });
  expect(result).toMatchObject({ resumed: [], last_n: {} });
  const { id, params } = await again.nextOf('task.cancel');
  expect(params).toEqual({ task_id: task, delivery: 1, reason: 'CANCELED' });
  again.answer(id);
  await until(
    async () => (await room.row('select confirmed_at from delivery where task_key = $1', [task])).confirmed_at,
    'the confirmation',
  );
});

test('what was handed to somebody else since, or is unknown, is to be stopped', async () => {
  const { client, task } = await room.working();
  await kill(client, task);
  await database.query("update deadline set at = now() - interval '1 s' where kind = 'GRACE'");
  await room.patrol(); // it was not acknowledged: handed over again
  const unknown = randomUUID();
  const { client: again, result } = await comeBack({ task_id: task, delivery: 1 }, { task_id: unknown, delivery: 3 });
  expect(result.resumed).toEqual([]);
  const stops = [await again.nextOf('task.cancel'), await again.nextOf('task.cancel')].map(({ params }) => params);
  expect(stops).toContainEqual({ task_id: task, delivery: 1, reason: 'STALE_DELIVERY' });
  expect(stops).toContainEqual({ task_id: unknown, delivery: 3, reason: 'NOT_FOUND' });
  expect((await again.nextOf('task.execute')).params).toMatchObject({ task_id: task, delivery: 2 });
});

test('a reassigned task cannot be resumed by who had it', async () => {
  const { client, task } = await room.working();
  await kill(client, task);
  const other = randomUUID();
  await database.query(
    'insert into agent (id, network_id, owner_id, name) select $1, network_id, owner_id, $1::uuid::text from agent where id = $2',
    [other, room.agent],
  );
  const { executor } = room.create(room.agent).created;
  await room.act({ kind: 'reassign', task, actor: 'ada', executor: { ...executor, id: other, name: other } });
  const { client: again, result } = await comeBack({ task_id: task, delivery: 1 });
  expect(result.resumed).toEqual([]);
  expect((await again.nextOf('task.cancel')).params).toMatchObject({ task_id: task, reason: 'NOT_FOUND' });
});

test.each([undefined, 1])('a report on what nobody alive has is resumed here (delivery %s)', async (delivery) => {
  const { client, task } = await room.working();
  await kill(client, task);
  const again = await room.connect();
  expect((await again.request('task.status', working(task, delivery))).result).toBeDefined();
  expect(await taskOf(task)).toMatchObject({ state: 'WORKING', holder: again.connection });
  await room.act({ kind: 'cancel', task, actor: 'ada', reason: 'REQUESTED' });
  expect((await again.nextOf('task.cancel')).params).toMatchObject({ task_id: task, reason: 'REQUESTED' });
});

test('a report without a delivery on what another living connection has is STALE_DELIVERY', async () => {
  const { client, task } = await room.working();
  const other = await room.connect();
  const { error } = await other.request('task.status', working(task));
  expect(error?.data).toMatchObject({ code: 'STALE_DELIVERY' });
  expect(await taskOf(task)).toMatchObject({ holder: client.connection });
});

test('who takes over replaces the other connections, and may resume their work', async () => {
  const { client: first, task } = await room.working();
  const second = await room.connect({ takeover: true, resume: [{ task_id: task, delivery: 1, last_seq: 0 }] });
  expect((await first.nextOf('connection.closing')).params).toMatchObject({ reason: 'replaced' });
  expect((await first.closed).code).toBe(4409);
  await until(async () => (await database.query('select from connection')).rowCount === 1, 'the row to go');
  expect(await taskOf(task)).toMatchObject({ holder: second.connection });
  expect((await second.request('task.status', working(task))).result).toBeDefined();
});

test('a connection whose row is gone is replaced: told, closed, its work lost', async () => {
  const { client, task } = await room.working();
  await room.hub.patrol();
  await client.settled();
  await database.query('delete from connection where id = $1', [client.connection]); // as another instance does
  await room.hub.patrol();
  expect((await client.nextOf('connection.closing')).params).toEqual({ reason: 'replaced', reconnect_after_ms: 1_000 });
  expect((await client.closed).code).toBe(4409);
  await lost(task);
});

test('work that was lost under a living connection goes on with its next report', async () => {
  const { client, task } = await room.working();
  await room.act({ kind: 'lose', task, delivery: 1, holder: client.connection }); // as another instance does to the overdue
  const { error } = await client.request('task.status', working(task, 1));
  // The connection may hear of the loss before or after this report: refused once at most, never lost.
  if (error) expect((await client.request('task.status', working(task, 1))).result).toBeDefined();
  expect(await taskOf(task)).toMatchObject({ state: 'WORKING', holder: client.connection });
});

test('a task that was handed over to a connection which closed meanwhile is lost, not stuck', async () => {
  const client = await room.connect();
  const task = await room.submit();
  const taker = room.hub.reserve(room.agent);
  if (!taker) throw new Error('No place');
  const { task: head } = await room.act({ kind: 'take', task, agent: room.agent, taker });
  client.socket.terminate();
  await until(async () => (await database.query('select from connection')).rowCount === 0, 'the end');
  const none = {
    key: task,
    contextId: '',
    history: [],
    skill: null,
    requester: '',
    user: '',
    deadlineMs: 0,
    metadata: {},
  };
  const message = { ...room.message(''), seq: 1, atMs: 0 };
  room.hub.handOver(taker, { ...none, task: head, message });
  await lost(task);
});

test('an instance that was buried while it slept lets nobody in until it is back', async () => {
  await database.query('delete from instance where boot_id = $1', [room.instance]);
  for (const takeover of [false, true]) {
    const client = await openSocket(`${room.url}/hub`, agentToken);
    const { error } = await client.request('agent.register', { agent_name: 'echo', takeover });
    expect(error?.data).toMatchObject({ code: 'RATE_LIMITED' });
    expect((await client.closed).code).toBe(1012);
  }
  await room.patrol();
  await room.connect();
});
