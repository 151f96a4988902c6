import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSocket } from '../support/agent-client.ts';
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

const connections = async () => (await database.query('select id from connection')).rows.map(({ id }) => id);

test('a socket is told its connection, the heartbeat and the protocol', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  const { params } = await client.nextOf('connection.established');
  expect(params).toEqual({ connection_id: expect.any(String), heartbeat_seconds: 90, protocol: '1' });
});

test('an agent registers with the token of the upgrade', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  const { params } = await client.nextOf('connection.established');
  const { result } = await client.request('agent.register', {
    agent_name: 'echo',
    mode: 'sync',
    framework: 'none',
    whatever: 1,
  });
  expect(result).toEqual({ registered: true, agent_id: room.agent, resumed: [], last_n: {}, pending_results: 0 });
  expect(await connections()).toContain(params.connection_id);
});

test('an agent registers with the token of the address, and by its id', async () => {
  const client = await openSocket(`${room.url}/ws/agents?token=${agentToken}`);
  const { result } = await client.request('agent.register', { agent_name: room.agent });
  expect(result).toMatchObject({ registered: true });
  expect(room.logged.join()).not.toContain(agentToken);
});

test('an agent registers with the token of its first message', async () => {
  const client = await openSocket(`${room.url}/hub`);
  const { result } = await client.request('agent.register', { agent_name: 'echo', auth_token: agentToken });
  expect(result).toMatchObject({ registered: true });
});

test('a token that opens nothing closes the socket at once', async () => {
  const client = await openSocket(`${room.url}/hub`, 'wrong');
  expect(await client.closed).toEqual({ code: 4401, reason: 'not authenticated' });
});

test('a user’s token closes the socket', async () => {
  const client = await openSocket(`${room.url}/hub`, room.userToken);
  expect(await client.closed).toEqual({ code: 4403, reason: 'forbidden' });
});

test.each([
  ['no token', {}, 4401],
  ['a wrong token', { auth_token: 'wrong' }, 4401],
  ['a user’s token', { auth_token: 'token-of-ada' }, 4403],
  ['another agent’s name', { auth_token: agentToken, agent_name: 'other' }, 4403],
])('registering with %s is answered, and the socket closed', async (_, params, code) => {
  const client = await openSocket(`${room.url}/hub`);
  const { result } = await client.request('agent.register', { agent_name: 'echo', ...params });
  expect(result).toEqual({ registered: false, error: expect.any(String) });
  expect((await client.closed).code).toBe(code);
});

test('who has not registered after 10 s is closed', async () => {
  const client = await openSocket(`${room.url}/hub`);
  await client.settled();
  room.wait(9_000);
  await room.hub.patrol();
  await client.settled();
  room.wait(1_000);
  await room.hub.patrol();
  expect((await client.closed).code).toBe(4401);
});

test('before it has registered an agent reports nothing', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  const { error } = await client.request('task.ack', { task_id: room.agent });
  expect(error).toMatchObject({ code: -32001, data: { code: 'UNAUTHENTICATED' } });
});

test('a connection registers once', async () => {
  const client = await room.connect();
  const { error } = await client.request('agent.register', { agent_name: 'echo' });
  expect(error?.data).toMatchObject({ code: 'CONFLICT' });
});

test.each([
  [{}, 'agent_name is missing'],
  [{ agent_name: 7 }, 'agent_name is not a string'],
  [{ agent_name: 'echo', capacity: 0 }, 'capacity is not a whole number from 1 on'],
  [{ agent_name: 'echo', takeover: 'yes' }, 'takeover is not a boolean'],
  [{ agent_name: 'echo', resume: {} }, 'resume is not a list'],
  [{ agent_name: 'echo', resume: [{ task_id: 'x', delivery: 1 }] }, 'task_id is not a UUID'],
  [{ agent_name: 'echo', agent_card: [] }, 'agent_card is not an object'],
  [{ agent_name: 'echo', agent_card: { skills: [{ name: 'no id' }] } }, 'id is missing'],
])('a registration %j is refused, and may be sent again', async (params, message) => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  const { error } = await client.request('agent.register', params);
  expect(error).toMatchObject({ code: -32602, message, data: { code: 'BAD_INPUT' } });
  expect((await client.request('agent.register', { agent_name: 'echo' })).result).toMatchObject({ registered: true });
});

test('a card changes description and skills, never prices', async () => {
  await room.connect({ agent_card: { description: 'old', skills: [{ id: 'sum', name: 'Sum' }] } });
  await database.query("update skill set price = 2.5 where skill_id = 'sum'");
  await room.connect({
    agent_card: {
      description: 'counts',
      skills: [
        { id: 'sum', name: 'Sums', description: 'adds', tags: ['math'], examples: ['1+1'], price: 0 },
        { id: 'max' },
      ],
    },
  });
  expect(await room.row('select description, card from agent where id = $1', [room.agent])).toMatchObject({
    description: 'counts',
    card: { description: 'counts' },
  });
  const { rows } = await database.query(
    'select skill_id, name, description, tags, examples, price from skill order by skill_id',
  );
  expect(rows).toEqual([
    { skill_id: 'max', name: 'max', description: '', tags: [], examples: [], price: '0.000000' },
    { skill_id: 'sum', name: 'Sums', description: 'adds', tags: ['math'], examples: ['1+1'], price: '2.500000' },
  ]);
});

test('a heartbeat is acknowledged, before and after registering', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  expect((await client.request('heartbeat', {})).result).toEqual({ status: 'heartbeat_ack' });
  await client.request('agent.register', { agent_name: 'echo' });
  expect((await client.request('heartbeat', {})).result).toEqual({ status: 'heartbeat_ack' });
});

test('who is silent for a heartbeat is closed, and its work is lost', async () => {
  const { client, task } = await room.working();
  client.socket.pause(); // it does not even answer pings
  room.wait(90_000);
  await room.hub.patrol();
  await until(
    async () => (await room.row('select holder from task where key = $1', [task])).holder === null,
    'the loss',
  );
  client.socket.resume();
  expect((await client.closed).code).toBe(4408);
  await until(async () => !(await connections()).includes(client.connection), 'the row to go');
});

test.each(['frame', 'ping', 'pong'] as const)('a %s is a sign of life', async (sign) => {
  const client = await room.connect();
  room.wait(89_000);
  const before = room.signs();
  if (sign === 'frame') await client.settled();
  else {
    client.socket[sign]();
    await until(() => room.signs() > before, `the ${sign}`);
  }
  room.wait(1_500);
  await room.hub.patrol();
  await client.settled();
});

test('the hub pings every third of the heartbeat', async () => {
  const client = await room.connect();
  const pinged = new Promise((resolve) => client.socket.once('ping', resolve));
  room.wait(30_000);
  await room.hub.patrol();
  await pinged;
});

test('when a connection ends, its row goes and the agent was last seen', async () => {
  await database.query('update agent set last_seen_at = null');
  const client = await room.connect();
  client.socket.close();
  await until(async () => !(await connections()).includes(client.connection), 'the row to go');
  await until(
    async () => (await room.row('select last_seen_at from agent where id = $1', [room.agent])).last_seen_at,
    'it',
  );
});

test('draining sends agents away; what they held is resumed elsewhere at once', async () => {
  const other = await openHubRoom(database);
  const { client, task } = await other.working();
  const reported = client.request('task.status', { task_id: task, n: 1, status: { state: 'working' } });
  await client.settled();
  const drained = other.hub.drain(250);
  expect((await client.nextOf('connection.closing')).params).toEqual({ reason: 'restarting', reconnect_after_ms: 250 });
  expect((await reported).result).toEqual({ seq: expect.any(Number) }); // what was reported is answered first
  expect((await client.closed).code).toBe(1012);
  await drained;
  const late = await openSocket(`${other.url}/hub`);
  expect((await late.closed).code).toBe(1012);

  Object.assign(room.passes, { moved: other.passes[agentToken] });
  const again = await openSocket(`${room.url}/hub`, 'moved');
  const resume = [{ task_id: task, delivery: 1, last_seq: 0 }];
  const { result } = await again.request('agent.register', { agent_name: 'echo', resume });
  expect(result).toMatchObject({ resumed: [task], last_n: { [task]: 1 } });
  await other.close();
});
