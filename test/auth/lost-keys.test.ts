import { randomBytes } from 'node:crypto';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { openSocket } from '../support/agent-client.ts';
import { closeCodeOf } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';

// A key that no longer holds: requests are refused at once, what is open ends within seconds, and never as if the task had ended.

const house = useHouse();
let worker: Awaited<ReturnType<typeof house.registerAgent>>;
beforeAll(async () => {
  worker = await house.registerAgent({ url: null });
});

const soonMs = 5_000;
const viewer = '{ viewer { network { id } } }';
const taskEvents =
  'subscription($id: ID!) { taskEvents(taskId: $id, keepOpen: true) { seq ... on StatusEvent { to } } }';
type Holder = { key: string; id: string };

const member = async (): Promise<Holder> => house.createUser();
const agent = async (): Promise<Holder> => {
  const { id, token } = await house.registerAgent({ url: null });
  return { id, key: token };
};
const keyOf = async ({ id }: Holder): Promise<string> =>
  (await house.query('select id from api_key where user_id = $1', [id])).rows[0].id;
const sql = (text: string) => async (holder: Holder) => void (await house.query(text, [holder.id]));

/** What the next request is answered: a code, or undefined when the key still opens, for less or more than before. */
const ways: [way: string, hold: () => Promise<Holder>, lose: (holder: Holder) => Promise<unknown>, code?: string][] = [
  [
    'is revoked',
    member,
    async (holder) => house.get('mutation($id: ID!) { revokeApiKey(id: $id) }', { id: await keyOf(holder) }),
    'UNAUTHENTICATED',
  ],
  ['is revoked elsewhere', member, sql('update api_key set revoked_at = now() where user_id = $1'), 'UNAUTHENTICATED'],
  ['has expired', member, sql('update api_key set expires_at = now() where user_id = $1'), 'UNAUTHENTICATED'],
  ['is gone', member, sql('delete from api_key where user_id = $1'), 'UNAUTHENTICATED'],
  ['may only read now', member, sql(`update api_key set scopes = '{read}' where user_id = $1`)],
  ['is that of another role now', member, sql(`update "user" set role = 'ADMIN' where id = $1`)],
  ['is that of a user who is blocked now', member, sql(`update "user" set status = 'BLOCKED' where id = $1`)],
  [
    'is that of a user who was suspended',
    member,
    ({ id }) => house.get('mutation($id: ID!) { setUserStatus(userId: $id, status: SUSPENDED) { id } }', { id }),
  ],
  ['is a removed agent’s', agent, sql('update agent set removed_at = now() where id = $1'), 'UNAUTHENTICATED'],
  [
    'is an agent’s old one',
    agent,
    async ({ id }) => house.query('update agent set token_hash = $2 where id = $1', [id, randomBytes(32)]),
    'UNAUTHENTICATED',
  ],
  [
    'was taken from its agent',
    agent,
    sql('update agent set token_hash = null, token_prefix = null where id = $1'),
    'UNAUTHENTICATED',
  ],
];

/** A task that the holder may see. */
const taskOf = async ({ id, key }: Holder): Promise<string> => {
  if (key.startsWith('bk_')) return (await house.send({ agent: worker.name, text: 'hello' }, key)).id;
  const { rows } = await house.query('select name from agent where id = $1', [id]);
  return (await house.send({ agent: rows[0].name, text: 'hello' })).id;
};

const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${soonMs} ms`)), soonMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

test.each(ways)('a key that %s ends what it opened', async (_, hold, lose, code) => {
  const holder = await hold();
  const id = await taskOf(holder);
  const open = {
    sse: house.sse(taskEvents, { id }, holder.key),
    socket: house.socketClient(holder.key).subscribe({ query: taskEvents, variables: { id } }),
    others: house.socketClient().subscribe({ query: taskEvents, variables: { id } }),
  };
  const begun = await Promise.all([open.sse.next(), open.socket.next(), open.others.next()]);
  expect(begun.map(({ done }) => done)).toEqual([false, false, false]);
  const idle = await openIdle(holder.key);

  await lose(holder);
  expect(await house.codeOf(viewer, {}, holder.key)).toBe(code);

  const [events, closed, idleClosed] = await Promise.all([
    within('The event stream', collect(open.sse)),
    within('The socket', lastOf(open.socket)),
    within('The idle socket', idle.closed),
  ]);
  expect(closed).toBe(4403);
  expect(idleClosed).toBe(4403);
  const ending = events.find(({ data }) => data?.errors);
  expect(ending?.data?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  expect(ending?.data?.data?.taskEvents).toBeUndefined();
  await house.get('mutation($id: ID!) { cancelTask(id: $id) { task { id } } }', { id });
  for await (const { data } of open.others) if (data.taskEvents.to === 'CANCELED') break; // who holds another key goes on
});

test('an expired key ends by itself', async () => {
  const { id } = await house.createUser();
  const { key } = await house.get('mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }', {
    input: { userId: id, name: 'short', expiresAt: new Date(Date.now() + 1_500).toISOString() },
  });
  const { closed } = await openIdle(key);
  expect(await within('The socket', closed)).toBe(4403);
});

test('a blocking call of a key that was revoked is refused, not answered', async () => {
  const holder = await member();
  const waiting = house.codeOf(
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }',
    { input: { agent: worker.name, text: 'wait', contextId: 'waiting', wait: true } },
    holder.key,
  );
  const seen = '{ tasks(filter: { contextId: "waiting" }) { edges { node { id } } } }';
  await expect.poll(async () => (await house.get(seen)).edges.length).toBe(1);
  await house.query('update api_key set revoked_at = now() where user_id = $1', [holder.id]);
  expect(await within('The call', waiting)).toBe('UNAUTHENTICATED');
});

test('an agent whose token was taken, or never given, cannot register', async () => {
  const { id, name, token } = await house.registerAgent();
  const hub = `${house.url.replace(/^http/, 'ws')}/hub`;
  const known = await openSocket(hub, token);
  expect((await known.request('agent.register', { agent_name: name })).result).toMatchObject({ registered: true });
  await house.query('update agent set removed_at = now() where id = $1', [id]);
  for (const shown of [token, `ba_${'A'.repeat(43)}`]) {
    expect((await (await openSocket(hub, shown)).closed).code).toBe(4401);
    const later = await openSocket(hub);
    const { result } = await later.request('agent.register', { agent_name: name, auth_token: shown });
    expect(result).toMatchObject({ registered: false });
    expect((await later.closed).code).toBe(4401);
  }
});

/** A graphql-ws socket that asks for nothing. */
const openIdle = async (key: string) => {
  const socket = new WebSocket(`${house.url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('open', resolve));
  const answered = new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  expect(JSON.parse(await answered)).toEqual({ type: 'connection_ack' });
  return { closed };
};

const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
};

/** How the socket was closed; undefined: the operation completed. */
const lastOf = async (stream: AsyncIterable<unknown>): Promise<number | undefined> => {
  try {
    await collect(stream);
    return undefined;
  } catch (error) {
    return closeCodeOf(error);
  }
};
