import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSocket } from '../support/agent-client.ts';
import { useDatabase } from '../support/database.ts';
import { agentToken, type HubRoom, openHubRoom } from '../support/hub-room.ts';

const database = useDatabase();
let room: HubRoom;
beforeAll(async () => {
  room = await openHubRoom(database);
});
afterAll(() => room.close());
beforeEach(() => room.reset());

test.each([
  ['{', null, -32700],
  ['[]', null, -32600],
  ['[{"jsonrpc":"2.0","id":1,"method":"heartbeat"}]', null, -32600],
  ['7', null, -32600],
  ['{"id":3,"method":"heartbeat"}', 3, -32600],
  ['{"jsonrpc":"2.0","id":4}', 4, -32600],
  ['{"jsonrpc":"2.0","id":5,"method":6}', 5, -32600],
  ['{"jsonrpc":"2.0","id":{},"method":"heartbeat"}', null, -32600],
  ['{"jsonrpc":"2.0","id":null,"method":"heartbeat"}', null, -32600],
  ['{"jsonrpc":"2.0","result":{}}', null, -32600],
  ['{"jsonrpc":"2.0","id":"x","method":"no.such"}', 'x', -32601],
  ['{"jsonrpc":"2.0","id":"x","method":"agent.send_task","params":{}}', 'x', -32601],
  ['{"jsonrpc":"2.0","id":"x","method":"toString"}', 'x', -32601],
  ['{"jsonrpc":"2.0","id":8,"method":"heartbeat","params":[]}', 8, -32602],
  ['{"jsonrpc":"2.0","id":9,"method":"heartbeat","params":{"a":"\\u0000"}}', 9, -32602],
  ['{"jsonrpc":"2.0","id":9,"method":"heartbeat","params":{"a":"\\ud800"}}', 9, -32602],
  [`{"jsonrpc":"2.0","id":9,"method":"heartbeat","params":{"a":${'['.repeat(70)}${']'.repeat(70)}}}`, 9, -32602],
  [`{"jsonrpc":"2.0","id":9,"method":"heartbeat","params":{"a":${'['.repeat(9_999)}${']'.repeat(9_999)}}}`, 9, -32602],
])('the frame %s is answered with an error, and the socket stays open', async (frame, id, code) => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  client.sendText(frame);
  expect((await client.answerTo(id)).error).toMatchObject({ code, message: expect.any(String) });
  await client.settled();
});

test('twenty bad frames in a row close the socket', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  for (let n = 0; n < 19; n++) client.sendText('nonsense');
  await client.settled(); // a good one: counting starts again
  for (let n = 0; n < 19; n++) client.sendText('nonsense');
  await client.settled();
  for (let n = 0; n < 20; n++) client.sendText('nonsense');
  expect(await client.closed).toEqual({ code: 4400, reason: 'bad request' });
});

test('a frame of 1 MiB is read, a larger one closes the socket', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  const frame = (bytes: number) => {
    const empty = '{"jsonrpc":"2.0","id":1,"method":"heartbeat","params":{"a":""}}';
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
  };
  client.sendText(frame(1_048_576));
  expect((await client.answerTo(1)).result).toBeDefined();
  client.sendText(frame(1_048_577));
  expect((await client.closed).code).toBe(4413);
});

test('ids are answered in the type they were given', async () => {
  const client = await openSocket(`${room.url}/hub`, agentToken);
  for (const id of [7, '7', 'a', 0, -1, 1.5, '']) {
    client.send({ id, method: 'heartbeat' });
    expect(await client.answerTo(id)).toMatchObject({ id, result: { status: 'heartbeat_ack' } });
  }
});

test('a second request with an id that is still open is refused', async () => {
  const { client, task } = await room.working();
  const report = (id: string | number) =>
    client.send({ id, method: 'task.status', params: { task_id: task, status: { state: 'working' } } });
  report('5');
  report(5);
  expect((await client.answerTo(5)).error).toMatchObject({ code: -32600, message: expect.stringContaining('5') });
  expect((await client.answerTo('5')).result).toMatchObject({ seq: expect.any(Number) });
  report(5); // it is free again
  expect((await client.answerTo(5)).result).toBeDefined();
});

test('an answer to nothing is ignored', async () => {
  const client = await room.connect();
  client.answer('hub-999');
  client.refuse(4, 'what?');
  await client.settled();
  expect(client.received).toEqual([]);
});

test('a notification of an unknown method is told so', async () => {
  const client = await room.connect();
  client.notify('no.such', {});
  expect((await client.nextOf('error')).params).toMatchObject({ code: 'NOT_FOUND', method: 'no.such' });
});

test('an agent that does not read what it is sent is closed', async () => {
  const client = await room.connect();
  client.socket.pause();
  const big = 'x'.repeat(900_000);
  for (let n = 0; n < 60; n++) client.send({ id: `${n}${big}`, method: 'heartbeat' });
  await new Promise((resolve) => {
    const look = () => (client.socket.bufferedAmount === 0 ? resolve(undefined) : setImmediate(look));
    look();
  });
  client.socket.resume();
  expect((await client.closed).code).toBe(4429);
});
