import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Cast, createCast, type Who } from '../support/cast.ts';
import { useHouse } from '../support/house.ts';

// Admins keep members and viewers, owners keep everybody, nobody the own status; who is not active changes nothing.

const house = useHouse();
let cast: Cast;
beforeAll(async () => {
  cast = await createCast(house);
});

const createUser = 'mutation($role: Role!) { createUser(input: { name: "new", role: $role }) { id role } }';
const setStatus = 'mutation($id: ID!) { setUserStatus(userId: $id, status: SUSPENDED) { id status } }';
const createKey = 'mutation($id: ID) { createApiKey(input: { userId: $id, name: "new" }) { key } }';
const revoke = 'mutation($id: ID!) { revokeApiKey(id: $id) }';
const sendMessage = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }';
const keyOf = async (user: string): Promise<string> =>
  (await house.query('select id from api_key where user_id = $1 order by id limit 1', [user])).rows[0].id;
const as = (who: Who, query: string, variables: Record<string, unknown> = {}) =>
  house.codeOf(query, variables, cast.keys[who]);

describe.each([
  ['VIEWER', undefined],
  ['MEMBER', undefined],
  ['ADMIN', 'FORBIDDEN'],
  ['OWNER', 'FORBIDDEN'],
])('of the role %s', (role, code) => {
  test('users are made by owners, and by admins below them', async () => {
    expect(await as('admin', createUser, { role })).toBe(code);
    expect(await as('owner', createUser, { role })).toBeUndefined();
  });

  test('users are suspended, given keys and bereft of them likewise', async () => {
    const { id, key } = await house.createUser({ role });
    for (const [query, variables] of [
      [createKey, { id }],
      [revoke, { id: await keyOf(id) }],
      [setStatus, { id }],
    ] as const)
      expect(await as('admin', query, variables)).toBe(code);
    const isSpared = code !== undefined;
    expect(await house.codeOf('{ viewer { user { id } } }', {}, key)).toBe(isSpared ? undefined : 'UNAUTHENTICATED');
    const { rows } = await house.query('select status from "user" where id = $1', [id]);
    expect(rows).toEqual([{ status: isSpared ? 'ACTIVE' : 'SUSPENDED' }]);
    for (const [query, variables] of [
      [createKey, { id }],
      [setStatus, { id }],
      [revoke, { id: await keyOf(id) }],
    ] as const)
      expect(await as('owner', query, variables)).toBeUndefined();
  });
});

test('nobody changes the own status, and everybody from ADMIN on has keys of their own', async () => {
  for (const who of ['admin', 'owner'] as const) {
    expect(await as(who, setStatus, { id: cast.people[who].id })).toBe('FORBIDDEN');
    const { key } = await house.get(createKey, {}, cast.keys[who]);
    expect((await house.get('{ viewer { user { id } } }', {}, key)).user.id).toBe(cast.people[who].id);
    const { rows } = await house.query('select id from api_key where user_id = $1 order by id desc limit 1', [
      cast.people[who].id,
    ]);
    expect(await as(who, revoke, { id: rows[0].id })).toBeUndefined();
    expect(await house.codeOf('{ viewer { user { id } } }', {}, key)).toBe('UNAUTHENTICATED');
  }
});

test('networks are made by owners of the first one alone', async () => {
  const create = 'mutation { createNetwork(name: "another") { key } }';
  const { key } = await house.get(create, {}, cast.keys.owner);
  expect((await house.get('{ viewer { user { role } network { name } } }', {}, key)).user.role).toBe('OWNER');
  expect(await house.codeOf(create, {}, key)).toBe('FORBIDDEN');
});

describe.each(['PENDING_APPROVAL', 'SUSPENDED', 'BLOCKED'])('who is %s', (status) => {
  test('reads and follows what it may see, and changes nothing', async () => {
    const { id, key } = await house.createUser();
    const task = await house.send({ agent: cast.agent.name, text: 'before' }, key);
    await house.get(setStatus.replace('SUSPENDED', status), { id });
    expect((await house.get('{ tasks { edges { node { id } } } }', {}, key)).edges).toEqual([
      { node: { id: task.id } },
    ]);
    for await (const { data } of house.sse('subscription($id: ID!) { taskEvents(taskId: $id) { seq } }', task, key)) {
      expect(data?.data.taskEvents).toEqual({ seq: 1 });
      break;
    }
    for (const [query, variables] of [
      [sendMessage, { input: { agent: cast.agent.name, text: 'after' } }],
      [sendMessage, { input: { taskId: task.id, text: 'after', kind: 'MESSAGE' } }],
      ['mutation($id: ID!) { cancelTask(id: $id) { task { id } } }', { id: task.id }],
      ['mutation($id: ID!) { retryTask(id: $id) { id } }', { id: task.id }],
    ] as const)
      expect(await house.codeOf(query, variables, key)).toBe('USER_INACTIVE');
    expect((await house.get('query($id: ID!) { task(id: $id) { state } }', task, key)).state).toBe('SUBMITTED');
  });

  test('is answered a repeat, by message id and by task id', async () => {
    const { id, key } = await house.createUser();
    const input = { agent: cast.agent.name, text: 'once', messageId: randomUUID() };
    const named = { agent: cast.agent.name, text: 'once', taskId: randomUUID() };
    const [first, second] = [await house.send(input, key), await house.send(named, key)];
    await house.get(setStatus.replace('SUSPENDED', status), { id });
    expect((await house.send(input, key)).id).toBe(first.id);
    expect((await house.send(named, key)).id).toBe(second.id);
    expect(await house.codeOf(sendMessage, { input: { ...named, text: 'twice' } }, key)).toBe('USER_INACTIVE');
    expect(await house.codeOf(sendMessage, { input: { ...input, text: 'twice' } }, key)).toBe('IDEMPOTENCY_CONFLICT');
  });
});

test('who may not is told so before anything is looked up or read', async () => {
  const id = randomUUID();
  const content = { taskId: id, text: 'x', parts: [{}] };
  const wrong: [query: string, variables: Record<string, unknown>][] = [
    ['mutation($id: ID!) { cancelTask(id: $id) { task { id } } }', { id }],
    ['mutation($id: ID!) { retryTask(id: $id) { id } }', { id }],
    ['mutation($id: ID!) { ackTask(id: $id, delivery: 1) { id } }', { id }],
    [
      'mutation($input: ReportStatusInput!) { reportStatus(input: $input) { id } }',
      { input: { ...content, delivery: 1, state: 'SUBMITTED' } },
    ],
    [
      'mutation($input: AppendArtifactInput!) { appendArtifact(input: $input) { id } }',
      { input: { ...content, delivery: 1, artifactId: '' } },
    ],
    [
      'mutation($input: PostMessageInput!) { postMessage(input: $input) { id } }',
      { input: { ...content, kind: 'TASK' } },
    ],
    [sendMessage, { input: { taskId: 'none', kind: 'BROADCAST' } }],
    [setStatus, { id }],
    [revoke, { id }],
    [createKey, { id }],
    [createUser, { role: 'OWNER' }],
    ['mutation { createNetwork(name: "") { key } }', {}],
    ['mutation { registerAgent(input: { name: "?" }) { token } }', {}],
  ];
  expect(await as('nobody', sendMessage, { input: { waitSeconds: -1 } })).toBe('UNAUTHENTICATED');
  for (const [query, variables] of wrong) {
    expect([query, await as('nobody', query, variables)]).toEqual([query, 'UNAUTHENTICATED']);
    expect([query, await as('reader', query, variables)]).toEqual([query, 'FORBIDDEN']);
    expect([query, await as('viewer', query, variables)]).toEqual([query, 'FORBIDDEN']);
  }
});
