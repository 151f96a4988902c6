import { beforeAll, expect, test } from 'vitest';
import { useHouse } from '../support/house.ts';

// The agent's side by GraphQL alone.

const house = useHouse();
let agent: Awaited<ReturnType<typeof house.registerAgent>>;
beforeAll(async () => {
  agent = await house.registerAgent({ url: null });
});

const asAgent = (query: string, variables: Record<string, unknown>) => house.get(query, variables, agent.token);
const acknowledge = (id: string, delivery = 1) =>
  asAgent(
    'mutation($id: ID!, $delivery: Int!) { ackTask(id: $id, delivery: $delivery) { state delivery { state } } }',
    { id, delivery },
  );
const report = (input: Record<string, unknown>) =>
  asAgent('mutation($input: ReportStatusInput!) { reportStatus(input: $input) { state reason result usage } }', {
    input: { delivery: 1, ...input },
  });
const append = (input: Record<string, unknown>) =>
  asAgent(
    'mutation($input: AppendArtifactInput!) { appendArtifact(input: $input) { artifactId text size complete } }',
    {
      input: { delivery: 1, artifactId: 'a', ...input },
    },
  );
const post = (input: Record<string, unknown>) =>
  asAgent(
    'mutation($input: PostMessageInput!) { postMessage(input: $input) { seq text author authorName kind inReplyTo } }',
    { input },
  );
const started = async () => {
  const { id } = await house.send({ agent: agent.name, text: 'work' });
  await acknowledge(id);
  return id as string;
};

test('an agent takes a waiting delivery by acknowledging it, streams, and completes', async () => {
  const { id } = await house.send({ agent: agent.name, text: 'write' });
  expect(await acknowledge(id)).toEqual({ state: 'SUBMITTED', delivery: { state: 'ACKED' } });
  expect(await acknowledge(id)).toEqual({ state: 'SUBMITTED', delivery: { state: 'ACKED' } });
  expect(await append({ taskId: id, text: 'once ', n: 1 })).toEqual({
    artifactId: 'a',
    text: 'once ',
    size: 5,
    complete: false,
  });
  await append({ taskId: id, text: 'upon', append: true, lastChunk: true, n: 2 });
  expect(await append({ taskId: id, text: 'upon', append: true, n: 2 })).toMatchObject({
    text: 'once upon',
    complete: true,
  });
  await post({ taskId: id, text: 'nearly done' });
  expect(await report({ taskId: id, state: 'COMPLETED', usage: { tokens: 3 }, n: 3 })).toEqual({
    state: 'COMPLETED',
    reason: null,
    result: 'once upon',
    usage: { tokens: 3 },
  });
  expect(await report({ taskId: id, state: 'COMPLETED' })).toMatchObject({ state: 'COMPLETED' }); // its first answer again
  await expect(report({ taskId: id, state: 'WORKING' })).rejects.toMatchObject({
    code: 'ILLEGAL_TRANSITION',
    taskId: id,
  });
});

test('a context is worked on one task at a time', async () => {
  const [first, second] = [
    await house.send({ agent: agent.name, text: '1', contextId: 'one by one' }),
    await house.send({ agent: agent.name, text: '2', contextId: 'one by one' }),
  ];
  await expect(acknowledge(second.id)).rejects.toMatchObject({ code: 'CONTEXT_BUSY' });
  expect(await house.get('query($id: ID!) { task(id: $id) { queuePosition } }', { id: second.id })).toEqual({
    queuePosition: 2,
  });
  await acknowledge(first.id);
  expect(await house.get('query($id: ID!) { task(id: $id) { queuePosition } }', { id: first.id })).toEqual({
    queuePosition: null,
  });
  await report({ taskId: first.id, state: 'FAILED', reason: 'NO_INK', text: 'dry' });
  await acknowledge(second.id);
});

test('a failure keeps its reason and text; a rejection needs no work', async () => {
  const id = await started();
  expect(await report({ taskId: id, state: 'FAILED', reason: 'NO_INK', text: 'The pen is dry' })).toMatchObject({
    state: 'FAILED',
    reason: 'NO_INK',
    result: 'The pen is dry',
  });
  const other = await started();
  expect(await report({ taskId: other, state: 'REJECTED' })).toMatchObject({
    state: 'REJECTED',
    reason: 'AGENT_REJECTED',
  });
});

test('only the agent that has the delivery reports on it', async () => {
  const id = await started();
  const stranger = await house.registerAgent();
  const input = { taskId: id, delivery: 1, state: 'COMPLETED' };
  const reportStatus = 'mutation($input: ReportStatusInput!) { reportStatus(input: $input) { id } }';
  expect(await house.codeOf(reportStatus, { input }, stranger.token)).toBe('NOT_FOUND');
  expect(await house.codeOf(reportStatus, { input })).toBe('FORBIDDEN');
  await expect(report({ taskId: id, state: 'COMPLETED', delivery: 2 })).rejects.toMatchObject({
    code: 'STALE_DELIVERY',
    expected: 1,
    actual: 2,
  });
  await expect(report({ taskId: id, state: 'SUBMITTED' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  await expect(report({ taskId: id, state: 'WORKING', n: 0 })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  await expect(report({ taskId: id, state: 'WORKING', n: 5 })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    expected: 1,
  });
  await expect(append({ taskId: id })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  await expect(append({ taskId: id, text: 'x', artifactId: '' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  await expect(post({ taskId: id, text: 'x', kind: 'TASK' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  await expect(post({ taskId: id, text: 'x', inReplyTo: 'that' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  expect(await house.get('query($id: ID!) { task(id: $id) { state } }', { id })).toEqual({ state: 'SUBMITTED' });
});

test('a canceled task tells who canceled it and why, and a retry starts over', async () => {
  const id = await started();
  await append({ taskId: id, text: 'half' });
  const canceled = await house.get(
    'mutation($id: ID!) { cancelTask(id: $id, reason: "changed my mind") { task { state reason result } canceled { id } confirmed outstanding } }',
    { id },
  );
  expect(canceled).toEqual({
    task: { state: 'CANCELED', reason: 'REQUESTED', result: 'changed my mind' },
    canceled: [{ id }],
    confirmed: [],
    outstanding: [id], // an agent that works by GraphQL cannot be told
  });
  expect(await house.codeOf('mutation($id: ID!) { cancelTask(id: $id) { task { id } } }', { id })).toBe(
    'ILLEGAL_TRANSITION',
  );
  await expect(report({ taskId: id, state: 'COMPLETED' })).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  const again = await house.get(
    'mutation($id: ID!) { retryTask(id: $id) { state result artifacts { id } delivery { number state } deliveries { number outcome } } }',
    { id },
  );
  expect(again).toEqual({
    state: 'SUBMITTED',
    result: null,
    artifacts: [],
    delivery: { number: 2, state: 'QUEUED' },
    deliveries: [
      { number: 1, outcome: 'CANCELED' },
      { number: 2, outcome: null },
    ],
  });
  expect(await house.codeOf('mutation($id: ID!) { retryTask(id: $id) { id } }', { id })).toBe('ILLEGAL_TRANSITION');
});

test('an agent cancels only what it asked for', async () => {
  const id = await started();
  expect(await house.codeOf('mutation($id: ID!) { cancelTask(id: $id) { task { id } } }', { id }, agent.token)).toBe(
    'FORBIDDEN',
  );
  expect(await house.codeOf('mutation($id: ID!) { retryTask(id: $id) { id } }', { id }, agent.token)).toBe('FORBIDDEN');
});
