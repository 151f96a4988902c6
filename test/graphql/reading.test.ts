import { beforeAll, expect, test } from 'vitest';
import { useHouse } from '../support/house.ts';
import { recordStatements } from '../support/statements.ts';

const house = useHouse();
let writer: Awaited<ReturnType<typeof house.registerAgent>>;
let painter: Awaited<ReturnType<typeof house.registerAgent>>;
let ids: string[]; // oldest first

beforeAll(async () => {
  [writer, painter] = [
    await house.registerAgent({ name: 'writer', description: 'Writes', skills: [{ id: 'prose', tags: ['text'] }] }),
    await house.registerAgent({ name: 'painter', capacity: 2, whenLost: 'REQUEUE' }),
  ];
  ids = [];
  for (let n = 0; n < 12; n++) {
    const agent = n % 3 === 0 ? painter.name : writer.name;
    const { id } = await house.send({ agent, text: `text ${n}`, contextId: `context ${n % 4}`, metadata: { n } });
    ids.push(id);
  }
});

/** Without what the hub looks after every second by itself. */
const asked = (sent: { text: string }[]) =>
  sent.filter(
    ({ text }) =>
      !/(into|delete from|left join) instance|at <= hub_now|(delete from connection|select from connection c) where/.test(
        text,
      ),
  );

type Page = {
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: Record<string, unknown>;
  totalCount: number | null;
};
const tasks = (args: Record<string, unknown> = {}, filter: Record<string, unknown> = {}): Promise<Page> =>
  house.get(
    `query($first: Int, $after: String, $last: Int, $before: String, $filter: TaskFilter) {
      tasks(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
        totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } } }`,
    { ...args, filter },
  );
const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.id);

test('tasks are listed newest first, in pages, forwards and backwards', async () => {
  const newest = ids.toReversed();
  const first = await tasks({ first: 5 });
  expect(idsOf(first)).toEqual(newest.slice(0, 5));
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const second = await tasks({ first: 5, after: first.pageInfo.endCursor });
  expect(idsOf(second)).toEqual(newest.slice(5, 10));
  const last = await tasks({ first: 5, after: second.pageInfo.endCursor });
  expect(idsOf(last)).toEqual(newest.slice(10));
  expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const back = await tasks({ last: 4, before: last.pageInfo.startCursor });
  expect(idsOf(back)).toEqual(newest.slice(6, 10));
  expect(idsOf(await tasks({ last: 2 }))).toEqual(newest.slice(-2));
  expect((await tasks({ first: 0 })).edges).toEqual([]);
  expect((await tasks({ first: 3 })).totalCount).toBe(12);
});

test('tasks that were made in the same millisecond are neither lost nor doubled between pages', async () => {
  await house.query("update task set created_at = '2026-01-01T00:00:00Z'");
  const seen: string[] = [];
  for (let after: unknown; ; ) {
    const page = await tasks({ first: 5, after });
    seen.push(...idsOf(page));
    if (!page.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
  await house.query('update task set created_at = updated_at');
});

test('tasks are filtered by state, agent, context, skill, priority and time', async () => {
  const count = async (filter: Record<string, unknown>) => (await tasks({ first: 100 }, filter)).edges.length;
  expect(await count({ agent: 'painter' })).toBe(4);
  expect(await count({ agent: 'nobody' })).toBe(0);
  expect(await count({ contextId: 'context 1' })).toBe(3);
  expect(await count({ states: ['SUBMITTED'] })).toBe(12);
  expect(await count({ states: ['COMPLETED', 'FAILED'] })).toBe(0);
  expect(await count({ states: [] })).toBe(0);
  expect(await count({ skill: 'prose' })).toBe(8);
  expect(await count({ priority: 'HIGH' })).toBe(0);
  expect(await count({ createdAfter: '2020-01-01T00:00:00Z', createdBefore: '2099-01-01T00:00:00+02:00' })).toBe(12);
  expect(await count({ createdAfter: '2099-01-01T00:00:00Z' })).toBe(0);
  expect(await count({ agent: 'writer', contextId: 'context 1', states: ['SUBMITTED'] })).toBe(2);
  expect(await count({ parentId: ids[0] })).toBe(0);
  expect(await count({ rootId: ids[0] })).toBe(1);
  expect(await count({ rootId: 'nonsense' })).toBe(0);
});

test('a task tells everything about itself', async () => {
  const task = await house.get(
    `query($id: ID!) { task(id: $id) {
      id state reason result priority depth seq generation metadata usage queuePosition
      context { id title tasks { edges { node { id } } } }
      agent { name description transport mode connected capacity whenLost skills { skillId name tags price } owner { name role } card removedAt lastSeenAt }
      skill { skillId } requester { __typename ... on User { name } } user { name } parent { id } root { id } children { edges { node { id } } }
      delivery { number state outcome task { id } agent { name } } deliveries { number }
      statusMessage { id } messages { edges { node { text kind author authorName seq inReplyTo metadata parts { text data } } } }
      artifacts { id } events { edges { node { __typename seq actor detail task { id } } } }
      charge { amount } createdAt updatedAt statusAt deliveredAt startedAt finishedAt expiresAt timeoutAt } }`,
    { id: ids[1] },
  );
  expect(task).toMatchObject({
    id: ids[1],
    state: 'SUBMITTED',
    reason: null,
    result: null,
    priority: 'NORMAL',
    depth: 0,
    seq: 3,
    metadata: { n: 1 },
    queuePosition: 1,
    context: { id: 'context 1', title: null },
    agent: {
      name: 'writer',
      description: 'Writes',
      transport: 'WEBSOCKET',
      mode: 'SYNC',
      connected: false,
      capacity: null,
      whenLost: 'FAIL',
    },
    skill: { skillId: 'prose' },
    requester: { __typename: 'User', name: 'owner' },
    user: { name: 'owner' },
    parent: null,
    root: { id: ids[1] },
    delivery: { number: 1, state: 'QUEUED', outcome: null, task: { id: ids[1] }, agent: { name: 'writer' } },
    deliveredAt: null,
    timeoutAt: null,
    charge: null,
  });
  expect(task.messages.edges[0].node).toMatchObject({
    text: 'text 1',
    kind: 'TASK',
    author: 'USER',
    authorName: 'owner',
    seq: 2,
  });
  expect(task.events.edges.map(({ node }: { node: { __typename: string } }) => node.__typename)).toEqual([
    'StatusEvent',
    'MessageEvent',
    'DeliveryEvent',
  ]);
  expect(Date.parse(task.expiresAt)).toBeGreaterThan(Date.parse(task.createdAt));
  expect(task.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('what does not exist is null', async () => {
  expect(
    await house.ask('{ task(id: "nonsense") { id } context(id: "none") { id } agent(name: "nobody") { id } }'),
  ).toEqual({
    data: { task: null, context: null, agent: null },
  });
});

test('events and messages are read in pages, forwards, backwards and from a number on', async () => {
  const id = ids[2];
  for (const text of ['a', 'b', 'c']) await house.send({ taskId: id, text });
  const seqs = async (field: string) => {
    const { [field.split('(')[0] ?? '']: list } = await house.get(
      `query($id: ID!) { task(id: $id) { ${field} { edges { node { seq } } } } }`,
      { id },
    );
    return list.edges.map(({ node }: { node: { seq: number } }) => node.seq);
  };
  expect(await seqs('events')).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await seqs('events(afterSeq: 4)')).toEqual([5, 6]);
  expect(await seqs('events(last: 2)')).toEqual([5, 6]);
  expect(await seqs('messages(last: 2)')).toEqual([5, 6]);
  expect(await seqs('messages(first: 2)')).toEqual([2, 4]);
});

test('a row of the log that holds several chunks is cut where the page ends', async () => {
  const { id } = await house.send({ agent: painter.name, text: 'draw' });
  await house.get('mutation($id: ID!) { ackTask(id: $id, delivery: 1) { id } }', { id }, painter.token);
  const chunk = (n: number) =>
    `c${n}: appendArtifact(input: { taskId: "${id}", delivery: 1, artifactId: "a", text: "${n} ", append: true }) { id }`;
  await house.ask(`mutation { ${[1, 2, 3, 4, 5, 6, 7, 8].map(chunk).join(' ')} }`, {}, painter.token);
  await house.query(
    `with joined as (
       select min(first_seq) as first_seq, max(seq) as seq, json_agg(payload -> 0 order by seq) as payload from event where kind = 'ARTIFACT' and task_key = (select key from task where id = $1)
     ), gone as (delete from event using joined where kind = 'ARTIFACT' and task_key = (select key from task where id = $1) and event.seq < joined.seq)
     update event set first_seq = joined.first_seq, payload = joined.payload from joined
     where kind = 'ARTIFACT' and task_key = (select key from task where id = $1) and event.seq = joined.seq`,
    [id],
  );
  const read = async (args: string) =>
    (
      await house.get(
        `query($id: ID!) { task(id: $id) { events(${args}) { pageInfo { hasNextPage hasPreviousPage } edges { node { seq } } } } }`,
        { id },
      )
    ).events;
  const seqs = ({ edges }: { edges: { node: { seq: number } }[] }) => edges.map(({ node }) => node.seq);
  expect(seqs(await read('first: 3, afterSeq: 8'))).toEqual([9, 10, 11]);
  expect((await read('first: 3, afterSeq: 8')).pageInfo.hasNextPage).toBe(true);
  expect(seqs(await read('last: 3'))).toEqual([13, 14, 15]);
  const { artifacts } = await house.get('query($id: ID!) { task(id: $id) { artifacts { text size } } }', { id });
  expect(artifacts).toEqual([{ text: '1 2 3 4 5 6 7 8 ', size: 16 }]);
});

test('contexts and agents are listed in pages', async () => {
  const { edges } = await house.get('{ contexts(first: 3) { edges { node { id } } } }');
  expect(edges).toHaveLength(3);
  expect((await house.get('{ contexts(search: "TEXT 2") { edges { node { id } } } }')).edges).toEqual([
    { node: { id: 'context 2' } },
  ]);
  expect((await house.get('{ contexts(search: "%") { edges { node { id } } } }')).edges).toEqual([]);
  const { tasks: inContext } = await house.get('{ context(id: "context 3") { tasks { edges { node { id } } } } }');
  expect(inContext.edges).toHaveLength(3);
  const agents = async (args: string) =>
    (await house.get(`{ agents${args} { edges { node { name } } } }`)).edges.map(
      ({ node }: { node: { name: string } }) => node.name,
    );
  expect(await agents('(first: 1)')).toEqual(['painter']);
  expect(await agents('(last: 1)')).toEqual(['writer']);
  expect(await agents('(filter: { skill: "prose" })')).toEqual(['writer']);
  expect(await agents('(filter: { connected: true })')).toEqual([]);
});

test('a page of tasks with all that hangs on them costs the same few statements, however many tasks there are', async () => {
  const page = (first: number) =>
    house.get(`{ tasks(first: ${first}) { edges { node {
      id result metadata expiresAt queuePosition context { id } agent { name skills { skillId } } user { name } requester { __typename }
      messages(last: 1) { edges { node { text } } } events(last: 5) { edges { node { seq } } } delivery { state } artifacts { artifactId } } } } }`);
  const sent = recordStatements();
  await page(3);
  const few = asked(sent).length;
  await page(10);
  expect(asked(sent).length - few).toBe(few);
  expect(few).toBeLessThanOrEqual(14);
});

test('a task costs one statement to ask for, beside the one that finds the caller', async () => {
  const sent = recordStatements();
  await house.get('query($id: ID!) { task(id: $id) { id state seq } }', { id: ids[0] });
  expect(asked(sent)).toHaveLength(2);
});
