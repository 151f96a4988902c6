import { beforeAll, expect, test } from 'vitest';
import { useHouse } from '../support/house.ts';
import { type Line, subscribe, transports } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { chunk, connectWorker, takeTask } from '../support/worker.ts';

const house = useHouse();
beforeAll(() => house.query('update account set balance = 5'));

const message = 'message { id seq text author authorName kind inReplyTo createdAt parts { text data url } }';
const fields = `__typename seq actor detail at task { id state }
  ... on StatusEvent { from to reason text final ${message} }
  ... on MessageEvent { spoken: ${message} }
  ... on ArtifactEvent { artifactId append lastChunk parts { text data } }
  ... on DeliveryEvent { fromDelivery: from toDelivery: to number outcome }
  ... on ChargeEvent { charge { amount state at } }`;

const own = ({ seq, at, task, ...rest }: Line) => rest;
const status = (actor: string, from: string | null, to: string, more: object = {}) => ({
  ...{
    __typename: 'StatusEvent',
    actor,
    detail: null,
    from,
    to,
    reason: null,
    text: null,
    final: false,
    message: null,
  },
  ...more,
});
const delivery = (actor: string, number: number, from: string | null, to: string, more: object = {}) => ({
  ...{ __typename: 'DeliveryEvent', actor, detail: null, fromDelivery: from, toDelivery: to, number, outcome: null },
  ...more,
});
const charge = (state: string) => ({
  ...{ __typename: 'ChargeEvent', actor: 'system', detail: null },
  charge: { amount: '1.250000', state, at: expect.stringMatching(/^\d{4}-.*Z$/) },
});
const spoken = (author: string, authorName: string, text: string, more: object = {}) => ({
  ...{ id: expect.any(String), seq: expect.any(Number), text, author, authorName, kind: 'REPLY', inReplyTo: null },
  ...{ createdAt: expect.stringMatching(/^\d{4}-.*Z$/), parts: [{ text, data: null, url: null }] },
  ...more,
});
const said = (author: string, authorName: string, text: string, more: object = {}) => ({
  ...{ __typename: 'MessageEvent', actor: authorName, detail: null },
  spoken: spoken(author, authorName, text, more),
});

test('every kind of event tells all it knows, the same over both transports, live and replayed', async () => {
  const agent = await house.registerAgent({ skills: [{ id: 'write', price: '1.25' }] });
  const { name } = agent;
  const { id } = await house.send({ agent: name, text: 'write' });
  const { name: owner } = (
    await house.query('select u.name from "user" u join task t on t.user_id = u.id where t.id = $1', [id])
  ).rows[0];
  const watch = (transport: (typeof transports)[number]) =>
    subscribe(transport, { url: house.url, key: house.ownerKey, taskId: id, fields });
  const live = transports.map(watch);
  await Promise.all(live.map((each) => each.first(4)));

  const first = await connectWorker(house.url, agent);
  const taken = await takeTask(first, id);
  const report = { ...taken, final: false };
  await first.request('task.status', { ...report, status: { state: 'working', message: words('thinking') } });
  await first.request('task.status', { ...report, status: { state: 'working', message: words('still thinking') } });
  await first.request('task.artifact', { ...chunk(taken, 'once '), append: false });
  first.socket.terminate();
  await until(
    async () => (await house.query('select from task where id = $1 and holder is null', [id])).rowCount === 1,
    'the loss',
  );
  const agentAgain = await connectWorker(house.url, agent, { resume: [{ ...taken, last_seq: 0 }] });
  expect(agentAgain.registered.resumed).toEqual([id]);
  await agentAgain.request('task.artifact', {
    ...taken,
    artifact: { artifact_id: 'a', parts: [{ data: { upon: 1 } }] },
    append: true,
    last_chunk: true,
  });
  await agentAgain.request('task.status', { ...report, status: { state: 'input-required', message: words('Who?') } });
  await house.send({ taskId: id, text: 'Ada' });
  const again = await takeTask(agentAgain, id);
  await agentAgain.request('task.complete', { ...again, status: { state: 'completed', message: words('Done.') } });

  for (const { ended } of live) expect(await ended).toEqual({ how: 'completed' });
  const replayed = transports.map(watch);
  for (const { ended } of replayed) expect(await ended).toEqual({ how: 'completed' });
  const [events = []] = replayed.map((each) => each.events);
  expect(events.map(own)).toEqual([
    status(owner, null, 'SUBMITTED'),
    said('USER', owner, 'write', { kind: 'TASK' }),
    charge('HELD'),
    delivery(owner, 1, null, 'QUEUED'),
    delivery('system', 1, 'QUEUED', 'DELIVERED'),
    delivery(name, 1, 'DELIVERED', 'ACKED'),
    delivery(name, 1, 'ACKED', 'WORKING'),
    status(name, 'SUBMITTED', 'WORKING', { text: 'thinking' }),
    status(name, 'WORKING', 'WORKING', { text: 'still thinking' }),
    artifact(name, { append: false, lastChunk: false, parts: [{ text: 'once ', data: null }] }),
    delivery('system', 1, 'WORKING', 'WORKING', { detail: 'connection lost' }),
    delivery('system', 1, 'WORKING', 'WORKING', { detail: 'resumed' }),
    artifact(name, { append: true, lastChunk: true, parts: [{ text: null, data: { upon: 1 } }] }),
    said('AGENT', name, 'Who?'),
    delivery(name, 1, 'WORKING', 'ENDED', { outcome: 'INTERRUPTED' }),
    status(name, 'WORKING', 'INPUT_REQUIRED', { message: spoken('AGENT', name, 'Who?') }),
    said('USER', owner, 'Ada', { kind: 'TASK' }),
    status(owner, 'INPUT_REQUIRED', 'WORKING', { reason: 'ANSWERED' }),
    delivery(owner, 2, null, 'QUEUED'),
    delivery('system', 2, 'QUEUED', 'DELIVERED'),
    delivery(name, 2, 'DELIVERED', 'ACKED'),
    delivery(name, 2, 'ACKED', 'WORKING'),
    said('AGENT', name, 'Done.'),
    delivery(name, 2, 'WORKING', 'ENDED', { outcome: 'COMPLETED' }),
    charge('CAPTURED'),
    status(name, 'WORKING', 'COMPLETED', { final: true, message: spoken('AGENT', name, 'Done.') }),
  ]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const times = events.map(({ at }) => String(at));
  expect(times).toEqual([...times].sort());
  // A message's own number is that of its event, and a replay tells the task as it is now.
  for (const { seq, spoken: it } of events) if (it) expect(it).toMatchObject({ seq });
  for (const { task } of events) expect(task).toEqual({ id, state: 'COMPLETED' });
  for (const each of [...live, ...replayed].map((other) => other.events.map(own)))
    expect(each).toEqual(events.map(own));
});

test('an event tells the task as it is now, not then', async () => {
  const agent = await house.registerAgent();
  const { id } = await house.send({ agent: agent.name, text: 'write' });
  const stream = subscribe('graphql-ws', {
    ...{ url: house.url, key: house.ownerKey, taskId: id },
    fields: 'seq task { state } ... on StatusEvent { to }',
  });
  const [first] = await stream.first(3);
  expect(first).toEqual({ seq: 1, task: { state: 'SUBMITTED' }, to: 'SUBMITTED' });
  await house.get('mutation($id: ID!) { cancelTask(id: $id, reason: "no more") { task { id } } }', { id });
  await stream.ended;
  expect(stream.events.at(-1)).toEqual({ seq: 5, task: { state: 'CANCELED' }, to: 'CANCELED' });
  const late = subscribe('SSE', {
    ...{ url: house.url, key: house.ownerKey, taskId: id },
    fields: 'seq task { state } ... on StatusEvent { reason text }',
  });
  await late.ended;
  expect(late.events[0]).toEqual({ seq: 1, task: { state: 'CANCELED' }, reason: null, text: null });
  expect(late.events.at(-1)).toMatchObject({ reason: 'REQUESTED', text: 'no more' });
});

const words = (text: string) => ({ role: 'agent', parts: [{ type: 'text', text }] });
const artifact = (actor: string, more: object) => ({
  ...{ __typename: 'ArtifactEvent', actor, detail: null, artifactId: 'a' },
  ...more,
});
