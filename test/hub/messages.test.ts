import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Message } from '../../src/core/command.ts';
import { useDatabase } from '../support/database.ts';
import { type HubRoom, openHubRoom } from '../support/hub-room.ts';

const database = useDatabase();
let room: HubRoom;
beforeAll(async () => {
  room = await openHubRoom(database);
});
afterAll(() => room.close());
beforeEach(() => room.reset());

const say = (task: string, text: string, change: Partial<Message> = {}) =>
  room.act({ kind: 'followUp', task, actor: 'ada', message: { ...room.message(text), ...change } });

test.each(['TASK', 'MESSAGE', 'REPLY'] as const)(
  'a %s that comes while an agent works is shown to it',
  async (kind) => {
    const { client, task } = await room.working();
    await client.request('task.status', { task_id: task, status: { state: 'working' } });
    const { task: head } = await say(task, 'by the way', { kind });
    expect((await client.nextOf('message.new')).params).toEqual({
      task_id: task,
      seq: head.seq,
      message: {
        message_id: expect.any(String),
        role: 'user',
        author: 'ada',
        kind: kind.toLowerCase(),
        in_reply_to: null,
        parts: [{ type: 'text', text: 'by the way' }],
        created_at: expect.stringMatching(/Z$/),
      },
    });
  },
);

test('neither an ACK nor what the agent says itself is shown', async () => {
  const { client, task } = await room.working();
  await say(task, 'seen', { kind: 'ACK' });
  const fence = { agent: room.agent, delivery: 1 };
  const own = { ...room.message('mine'), author: 'AGENT', authorName: 'echo', kind: 'REPLY' } as const;
  await room.act({ kind: 'say', task, fence, message: own });
  await say(task, 'another agent’s', { author: 'AGENT', authorName: 'other', kind: 'MESSAGE' });
  expect((await client.nextOf('message.new')).params).toMatchObject({
    message: { role: 'user', author: 'other', parts: [{ text: 'another agent’s' }] },
  });
  await client.settled();
  expect(client.received).toEqual([]);
});

test('an ASYNC agent is handed a follow-up as task.event; a MESSAGE is shown to it', async () => {
  await database.query("update agent set mode = 'ASYNC' where id = $1", [room.agent]);
  const { client, task } = await room.working({}, { executor: { isAsync: true } });
  const { task: head } = await say(task, 'more');
  expect((await client.nextOf('task.event')).params).toEqual({
    task_id: task,
    seq: head.seq,
    content: { message_id: expect.any(String), role: 'user', parts: [{ type: 'text', text: 'more' }] },
  });
  await say(task, 'fyi', { kind: 'MESSAGE' });
  expect((await client.nextOf('message.new')).params).toMatchObject({ message: { kind: 'message' } });
});

test('the answer to a question comes with its delivery only', async () => {
  const { client, task } = await room.working();
  await client.request('task.status', { task_id: task, status: { state: 'auth-required', message: 'log in' } });
  await say(task, 'did so');
  await room.dispatch();
  expect((await client.nextOf('task.execute')).params).toMatchObject({
    delivery: 2,
    message: { parts: [{ text: 'did so' }] },
  });
  await client.settled();
  expect(client.received).toEqual([]);
});
