import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { useHouse } from '../support/house.ts';

const house = useHouse();
let agent: Awaited<ReturnType<typeof house.registerAgent>>;
let ada: Awaited<ReturnType<typeof house.createUser>>;
beforeAll(async () => {
  agent = await house.registerAgent();
  ada = await house.createUser({ name: 'ada' });
});

const sendMessage = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }';
const codeOf = (input: Record<string, unknown>, key: string | null = ada.key) =>
  house.codeOf(sendMessage, { input }, key);
const countTasks = async () =>
  (await house.query('select count(*)::int as tasks, (select count(*)::int from context) as contexts from task'))
    .rows[0];
const ledger = async (id: string) =>
  (
    await house.get(
      'query($id: ID!) { task(id: $id) { messages { edges { node { text author authorName kind } } } } }',
      { id },
    )
  ).messages.edges.map(({ node }: { node: object }) => node);
/** Takes the task's delivery as an agent that works by GraphQL, and reports. */
const report = (id: string, state: string, text?: string, delivery = 1) =>
  house.get(
    'mutation($input: ReportStatusInput!) { reportStatus(input: $input) { state } }',
    { input: { taskId: id, delivery, state, text } },
    agent.token,
  );
const acknowledge = (id: string, delivery = 1) =>
  house.get(
    'mutation($id: ID!, $delivery: Int!) { ackTask(id: $id, delivery: $delivery) { state delivery { state } } }',
    { id, delivery },
    agent.token,
  );

test('a message to an agent makes a task, in a new context unless one is named', async () => {
  const task = await house.send({ agent: agent.name, text: 'hello' }, ada.key);
  expect(task).toMatchObject({ state: 'SUBMITTED', delivery: { number: 1, state: 'QUEUED' } });
  const other = await house.send({ agent: agent.name, text: 'hello', contextId: 'trip to Oslo ✈' }, ada.key);
  expect(other.context.id).toBe('trip to Oslo ✈');
  expect(await ledger(task.id)).toEqual([{ text: 'hello', author: 'USER', authorName: 'ada', kind: 'TASK' }]);
});

test('checks come in the order of the domain, and nothing is written when one refuses', async () => {
  const sleepy = await house.createUser({ status: 'SUSPENDED' });
  const viewer = await house.createUser({ role: 'VIEWER' });
  const priced = await house.registerAgent({ skills: [{ id: 'paint', price: '1.50' }, { id: 'sing' }] });
  const bad = { agent: 'nobody', skill: 'none', parts: [{}], ttlSeconds: 0 };
  const before = await countTasks();
  expect(await codeOf(bad, null)).toBe('UNAUTHENTICATED');
  expect(await codeOf(bad, viewer.key)).toBe('FORBIDDEN');
  expect(await codeOf(bad, sleepy.key)).toBe('USER_INACTIVE');
  expect(await codeOf(bad)).toBe('AGENT_NOT_FOUND');
  expect(await codeOf({ ...bad, agent: priced.name })).toBe('SKILL_NOT_FOUND');
  expect(await codeOf({ ...bad, agent: priced.name, skill: undefined })).toBe('BAD_INPUT'); // several, and not all are free
  expect(await codeOf({ ...bad, agent: priced.name, skill: 'paint' })).toBe('BAD_INPUT'); // an empty part
  expect(await codeOf({ agent: priced.name, skill: 'paint', text: 'a cat', ttlSeconds: 0 })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: priced.name, skill: 'paint', text: 'a cat' })).toBe('INSUFFICIENT_FUNDS');
  expect(await codeOf({ text: 'to whom?' })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', metadata: [1] })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', kind: 'BROADCAST' })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', kind: 'MESSAGE' })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', kind: 'REPLY', taskId: randomUUID() })).toBe('NOT_FOUND');
  expect(await codeOf({ agent: agent.name, text: 'x', taskId: 'mine' })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', messageId: 'mine' })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', contextId: '' })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x', contextId: 'x'.repeat(129) })).toBe('BAD_INPUT');
  expect(await codeOf({ agent: agent.name, text: 'x' }, agent.token)).toBe('FORBIDDEN');
  expect(await countTasks()).toEqual(before);
});

test('a skill with a price is held until the task ends', async () => {
  const painter = await house.registerAgent({ skills: [{ id: 'paint', price: '1.50' }] });
  await house.query('update account set balance = 2 where user_id = $1', [ada.id]);
  const { id } = await house.send({ agent: painter.name, text: 'a cat' }, ada.key);
  const account = () => house.get('{ viewer { account { balance held available } } }', {}, ada.key);
  expect(await account()).toEqual({ account: { balance: '2.000000', held: '1.500000', available: '0.500000' } });
  expect(await codeOf({ agent: painter.name, text: 'a dog' })).toBe('INSUFFICIENT_FUNDS');
  expect(
    await house.get('query($id: ID!) { task(id: $id) { charge { amount state } skill { skillId } } }', { id }, ada.key),
  ).toEqual({
    charge: { amount: '1.500000', state: 'HELD' },
    skill: { skillId: 'paint' },
  });
  await house.get('mutation($id: ID!) { cancelTask(id: $id) { task { state } } }', { id }, ada.key);
  expect(await account()).toEqual({ account: { balance: '2.000000', held: '0.000000', available: '2.000000' } });
});

test('the same message id is answered with the same task, other content is a conflict', async () => {
  const input = { agent: agent.name, text: 'once', messageId: randomUUID() };
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => house.send(input, ada.key)));
  for (const each of others) expect(each.id).toBe(first.id);
  expect((await house.send({ ...input, messageId: input.messageId.toUpperCase() }, ada.key)).id).toBe(first.id);
  expect(await codeOf({ ...input, text: 'twice' })).toBe('IDEMPOTENCY_CONFLICT');
  const other = await house.registerAgent();
  expect(await codeOf({ ...input, agent: other.name })).toBe('IDEMPOTENCY_CONFLICT'); // not the task that was meant
  expect(await codeOf({ ...input, contextId: 'elsewhere' })).toBe('IDEMPOTENCY_CONFLICT');
  expect(await codeOf({ ...input, taskId: randomUUID() })).toBe('IDEMPOTENCY_CONFLICT');
  expect(await codeOf(input, house.ownerKey)).toBe('IDEMPOTENCY_CONFLICT'); // another's message
  const sleepy = await house.get('mutation($id: ID!) { setUserStatus(userId: $id, status: SUSPENDED) { id status } }', {
    id: ada.id,
  });
  expect(sleepy.status).toBe('SUSPENDED');
  expect((await house.send(input, ada.key)).id).toBe(first.id); // a repeat starts nothing
  await house.get('mutation($id: ID!) { setUserStatus(userId: $id, status: ACTIVE) { id } }', { id: ada.id });
});

test('a task id of the client’s choice: the creating message again is a repeat, anything else a follow-up', async () => {
  const input = { agent: agent.name, text: 'mine', taskId: randomUUID() };
  const [first, again] = await Promise.all([house.send(input, ada.key), house.send(input, ada.key)]);
  expect([first.id, again.id]).toEqual([input.taskId, input.taskId]);
  expect(await ledger(input.taskId)).toHaveLength(1);
  await house.send({ ...input, text: 'and more' }, ada.key);
  expect((await ledger(input.taskId)).map(({ text }: { text: string }) => text)).toEqual(['mine', 'and more']);
  await house.send(input, ada.key); // no longer the only message: said again
  expect(await ledger(input.taskId)).toHaveLength(3);
  expect(await codeOf(input, (await house.createUser()).key)).toBe('IDEMPOTENCY_CONFLICT'); // not theirs to see
});

test('an answer to a question takes the task back to work, with a new delivery', async () => {
  const { id } = await house.send({ agent: agent.name, text: 'book a table' }, ada.key);
  await acknowledge(id);
  expect(await report(id, 'INPUT_REQUIRED', 'For how many?')).toEqual({ state: 'INPUT_REQUIRED' });
  const { statusMessage } = await house.get(
    'query($id: ID!) { task(id: $id) { statusMessage { text author } } }',
    { id },
    ada.key,
  );
  expect(statusMessage).toEqual({ text: 'For how many?', author: 'AGENT' });
  const requests = await house.get('{ viewer { inputRequests { edges { node { id } } } } }', {}, ada.key);
  expect(requests.inputRequests.edges).toEqual([{ node: { id } }]);
  const answered = await house.send({ taskId: id, text: 'four' }, ada.key);
  expect(answered).toMatchObject({ state: 'WORKING', delivery: { number: 2, state: 'QUEUED' } });
  await acknowledge(id, 2);
  await report(id, 'COMPLETED', 'Done', 2);
  expect(await codeOf({ taskId: id, text: 'thanks' })).toBe('ILLEGAL_TRANSITION');
  expect(await codeOf({ taskId: id, text: 'thanks', contextId: 'elsewhere' })).toBe('BAD_INPUT');
});

test('wait answers when the task has ended or asks, or when the time is over', async () => {
  const { id } = await house.send({ agent: agent.name, text: 'slow', contextId: 'waiting' }, ada.key);
  const waiting = house.send({ taskId: id, text: 'I wait', kind: 'MESSAGE', wait: true }, ada.key);
  await acknowledge(id);
  await report(id, 'COMPLETED', 'there');
  expect((await waiting).state).toBe('COMPLETED');
  const impatient = await house.send({ agent: agent.name, text: 'slow', wait: true, waitSeconds: 0 }, ada.key);
  expect(impatient.state).toBe('SUBMITTED');
  expect(await codeOf({ agent: agent.name, text: 'x', wait: true, waitSeconds: 601 })).toBe('BAD_INPUT');
});
