import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { openSocket } from '../support/agent-client.ts';
import { codeIn, doorNames, doors } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';

const house = useHouse();
let agent: Awaited<ReturnType<typeof house.registerAgent>>;
beforeAll(async () => {
  agent = await house.registerAgent();
});

const viewer = { query: '{ viewer { user { name } agent { name } } }' };
const createKey = (input: Record<string, unknown> = {}) =>
  house.get(
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { key apiKey { id name prefix scopes expiresAt lastUsedAt } } }',
    { input: { name: 'a key', ...input } },
  );
const rowOf = async (id: string) => (await house.query('select * from api_key where id = $1', [id])).rows[0];

test('a key has 256 random bits behind a mark, and so has an agent’s token', async () => {
  const { key } = await createKey();
  for (const [secret, mark] of [
    [key, 'bk_'],
    [agent.token, 'ba_'],
  ]) {
    expect(secret.startsWith(mark)).toBe(true);
    expect(Buffer.from(secret.slice(3), 'base64url')).toHaveLength(32);
    expect(Buffer.from(secret.slice(3), 'base64url').toString('base64url')).toBe(secret.slice(3));
  }
  expect((await createKey()).key).not.toBe(key);
});

test('of a key are kept its SHA-256 and its first eight characters, of a token the same', async () => {
  const { key, apiKey } = await createKey();
  const { hash, prefix } = await rowOf(apiKey.id);
  expect(apiKey.prefix).toBe(key.slice(0, 8));
  expect(prefix).toBe(key.slice(0, 8));
  expect(hash).toEqual(createHash('sha256').update(key).digest());
  const { rows } = await house.query('select token_prefix, token_hash from agent where id = $1', [agent.id]);
  expect(rows[0]).toEqual({
    token_prefix: agent.token.slice(0, 8),
    token_hash: createHash('sha256').update(agent.token).digest(),
  });
});

test('no table holds a key or a token, in whichever form', async () => {
  const { key } = await createKey();
  const { rows: tables } = await house.query(
    "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  expect(tables.length).toBeGreaterThan(15);
  for (const { table_name } of tables) {
    const { rows } = await house.query(`select t::text as line from "${table_name}" t`);
    const text = rows.map(({ line }) => line).join('\n');
    for (const secret of [key, agent.token, house.ownerKey])
      for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
        expect(text.includes(form), table_name).toBe(false);
  }
});

describe.each(doorNames)('through %s', (door) => {
  const codeOf = async (key: string | null) => codeIn(await doors[door](house, viewer, key));

  test('a key opens, and a token opens as its agent', async () => {
    expect((await doors[door](house, viewer, (await createKey()).key)).data.viewer.user.name).toBe('owner');
    expect((await doors[door](house, viewer, agent.token)).data.viewer.agent.name).toBe(agent.name);
  });

  test.each([
    ['unknown', () => `bk_${'A'.repeat(43)}`],
    ['unknown, with the beginning of a known one', async () => `${(await createKey()).key.slice(0, -1)}_`],
    ['cut short', async () => (await createKey()).key.slice(0, 8)],
    ['longer by one character', async () => `${(await createKey()).key}A`],
    ['in other letters', async () => (await createKey()).key.toUpperCase()],
    ['of two words', async () => `${(await createKey()).key} x`],
    ['endless', () => `bk_${'A'.repeat(9_000)}`],
    ['the hash', async () => createHash('sha256').update(house.ownerKey).digest('hex')],
    ['an unknown agent’s', () => `ba_${'A'.repeat(43)}`],
    ['a JWT where none is configured', () => 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd25lciJ9.'],
  ])('a key that is %s opens nothing', async (_, make) => {
    expect(await codeOf(await make())).toBe('UNAUTHENTICATED');
  });

  test('an expired key and a revoked one open nothing', async () => {
    const { key, apiKey } = await createKey({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await codeOf(key)).toBeUndefined();
    await house.query("update api_key set expires_at = now() - interval '1 ms' where id = $1", [apiKey.id]);
    expect(await codeOf(key)).toBe('UNAUTHENTICATED');
    const other = await createKey();
    expect(await house.get('mutation($id: ID!) { revokeApiKey(id: $id) }', { id: other.apiKey.id })).toBe(
      other.apiKey.id,
    );
    expect(await codeOf(other.key)).toBe('UNAUTHENTICATED');
  });

  test('without a key only the version is told', async () => {
    expect(await codeOf(null)).toBe('UNAUTHENTICATED');
    expect((await doors[door](house, { query: '{ version }' }, null)).data.version).toMatch(/^\d/);
  });
});

test.each(['Basic', 'Token', 'Digest', ''])(
  'the scheme %j is refused, and told apart from nobody by 401',
  async (scheme) => {
    const authorization = `${scheme} ${house.ownerKey}`.trim();
    const response = await house.post({ query: '{ version }' }, { authorization }, null);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  },
);

test('the scheme may be written in small letters', async () => {
  const response = await house.post(viewer, { authorization: `bearer ${house.ownerKey}` }, null);
  expect(response.status).toBe(200);
});

test.each([
  ['a number', 42],
  ['a list', ['Bearer x']],
  ['an object', { bearer: 'x' }],
  ['a key with a NUL', 'Bearer \u0000abcdefgh'],
  ['a token with a NUL', 'Bearer ba_\u0000abcdefgh'],
  ['half a character', 'Bearer \ud800abcdefgh'],
])('%s in place of the authorization closes the socket', async (_, authorization) => {
  const socket = new WebSocket(`${house.url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
  expect(await closed).toBe(4403);
});

test('a token with a NUL in the address opens nothing', async () => {
  const socket = await openSocket(`${house.url.replace(/^http/, 'ws')}/ws/agents?token=ba_%00abcdefgh`);
  expect((await socket.closed).code).toBe(4401);
});

test('a refused key is not repeated to who sent it', async () => {
  const key = `bk_${randomUUID()}${randomUUID()}`;
  expect(await (await house.post(viewer, {}, key)).text()).not.toContain(key);
});

test('a key tells when it was used last, to the minute', async () => {
  const { key, apiKey } = await createKey();
  expect(apiKey.lastUsedAt).toBeNull();
  await house.get(viewer.query, {}, key);
  const first = (await rowOf(apiKey.id)).last_used_at;
  expect(Math.abs(Date.now() - first.getTime())).toBeLessThan(30_000);
  await house.get(viewer.query, {}, key);
  expect((await rowOf(apiKey.id)).last_used_at).toEqual(first); // a minute is fine enough
  await house.query("update api_key set last_used_at = now() - interval '61 s' where id = $1", [apiKey.id]);
  await house.get(viewer.query, {}, key);
  expect((await rowOf(apiKey.id)).last_used_at.getTime()).toBeGreaterThanOrEqual(first.getTime());
});

test.each([
  ['an empty name', { name: '' }],
  ['a long name', { name: 'x'.repeat(129) }],
  ['a scope that is none', { scopes: ['read', 'fly'] }],
  ['an end in the past', { expiresAt: '2020-01-01T00:00:00.000Z' }],
])('a key with %s is not made', async (_, input) => {
  await expect(createKey(input)).rejects.toMatchObject({ code: 'BAD_INPUT' });
});

test('of a user who is not there no key is made', async () => {
  await expect(createKey({ userId: randomUUID() })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(createKey({ userId: 'ada' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
