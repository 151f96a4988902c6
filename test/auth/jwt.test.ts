import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openSocket } from '../support/agent-client.ts';
import { codeIn, doorNames, doors } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';
import { audience, issuer, signed, unsigned } from '../support/issuer.ts';

// Tokens of somebody else's issuer, signed with a secret that the hub shares.

const secret = 'a secret of at least thirty-two characters';
const settings = { BATON_JWT_SECRET: secret, BATON_JWT_ISSUER: issuer, BATON_JWT_AUDIENCE: audience };
const house = useHouse(settings);
const without = useHouse();

let network: string;
let foreign: string;
beforeAll(async () => {
  network = (await house.get('{ viewer { network { id } } }')).network.id;
  await house.createUser({ name: 'ada', externalId: 'ada' });
  await house.createUser({ name: 'numbered', externalId: '42' });
  const made = await house.get('mutation { createNetwork(name: "other") { key network { id } } }');
  foreign = made.network.id;
  await house.get('mutation { createUser(input: { name: "bob", externalId: "bob" }) { id } }', {}, made.key);
});

const viewer = { query: '{ viewer { user { name } network { id } } }' };
const now = () => Math.floor(Date.now() / 1_000);
const token = (claims: Record<string, unknown> = {}, alg = 'HS256', key = secret) =>
  signed({ key: new TextEncoder().encode(key), header: { alg }, claims: { sub: 'ada', network, ...claims } });

describe.each(doorNames)('through %s', (door) => {
  test.each(['HS256', 'HS384', 'HS512'])('a token signed by %s opens as the user it names', async (alg) => {
    const { data } = await doors[door](house, viewer, await token({}, alg));
    expect(data.viewer).toEqual({ user: { name: 'ada' }, network: { id: network } });
  });

  test.each([
    [
      'nobody signed',
      () => unsigned({ alg: 'none' }, { iss: issuer, aud: audience, sub: 'ada', network, exp: now() + 60 }),
    ],
    ['another secret signed', () => token({}, 'HS256', `${secret}!`)],
    ['has expired', () => token({ exp: now() - 1 })],
    ['is not valid yet', () => token({ nbf: now() + 60 })],
    ['never ends', () => token({ exp: undefined })],
    ['comes of another issuer', () => token({ iss: 'https://elsewhere.example' })],
    ['comes of no issuer', () => token({ iss: undefined })],
    ['is for another audience', () => token({ aud: 'somebody else' })],
    ['is for no audience', () => token({ aud: undefined })],
    ['names no user', () => token({ sub: undefined })],
    ['names a user by an empty id', () => token({ sub: '' })],
    ['names a user by a number', () => token({ sub: 42 })],
    ['names a user who is not known', () => token({ sub: 'eve' })],
    ['names a user by name instead of externalId', () => token({ sub: 'owner' })],
    ['names no network', () => token({ network: undefined })],
    ['names a network that is none', () => token({ network: 'mine' })],
    ['names a list of networks', () => token({ network: [network] })],
    ['names a network that is not there', () => token({ network: randomUUID() })],
    ['names a user of another network', () => token({ sub: 'bob' })],
    ['names another network than the user’s', () => token({ network: foreign })],
    ['was changed', async () => (await token()).replace(/\.[^.]+\./, `.${part({ sub: 'ada', network })}.`)],
    ['is no JSON', () => 'bm90.anNvbg.c2ln'],
    ['needs what we do not know', () => unsigned({ alg: 'HS256', crit: ['x'], x: 1 }, { sub: 'ada' }, 'c2ln')],
  ])('a token that %s opens nothing', async (_, make) => {
    expect(codeIn(await doors[door](house, viewer, await make()))).toBe('UNAUTHENTICATED');
  });

  test('no token opens a hub that takes none', async () => {
    expect(codeIn(await doors[door](without, viewer, await token()))).toBe('UNAUTHENTICATED');
  });
});

const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');

test('a token for several audiences, with our own among them, opens', async () => {
  expect(await house.codeOf(viewer.query, {}, await token({ aud: ['others', audience] }))).toBeUndefined();
});

test('a token opens what its user may do now', async () => {
  const create = 'mutation { createUser(input: { name: "carl" }) { id } }';
  const adas = await token();
  expect(await house.codeOf(create, {}, adas)).toBe('FORBIDDEN');
  await house.query(`update "user" set role = 'ADMIN' where external_id = 'ada'`);
  expect(await house.codeOf(create, {}, adas)).toBeUndefined();
  await house.query(`update "user" set status = 'SUSPENDED' where external_id = 'ada'`);
  expect(await house.codeOf(create, {}, adas)).toBe('USER_INACTIVE');
  await house.query(`update "user" set role = 'MEMBER', status = 'ACTIVE' where external_id = 'ada'`);
});

test('what a token opened ends with it', async () => {
  const { name } = await house.registerAgent({ url: null });
  const short = await token({ exp: now() + 3 });
  const { id } = await house.send({ agent: name, text: 'hello' }, short);
  const query = 'subscription($id: ID!) { taskEvents(taskId: $id, keepOpen: true) { seq } }';
  const [events, socket] = [
    (async () => {
      for await (const { data } of house.sse(query, { id }, short)) if (data?.errors) return codeIn(data);
      return 'completed';
    })(),
    (async () => {
      for await (const _ of house.socketClient(short).subscribe({ query, variables: { id } }));
    })(),
  ];
  await expect(socket).rejects.toMatchObject({ code: 4403 });
  expect(await events).toBe('UNAUTHENTICATED');
  expect(await house.codeOf(viewer.query, {}, short)).toBe('UNAUTHENTICATED');
});

test('a user’s token registers no agent', async () => {
  const socket = await openSocket(`${house.url.replace(/^http/, 'ws')}/hub`, await token());
  expect((await socket.closed).code).toBe(4403);
});

test.each([
  ['a secret without an issuer', { ...settings, BATON_JWT_ISSUER: '' }, /BATON_JWT_ISSUER/],
  ['a secret without an audience', { ...settings, BATON_JWT_AUDIENCE: '' }, /BATON_JWT_AUDIENCE/],
  ['an issuer without a key', { ...settings, BATON_JWT_SECRET: '' }, /either BATON_JWT_SECRET or BATON_JWT_JWKS_URL/],
  ['both kinds of keys', { ...settings, BATON_JWT_JWKS_URL: 'https://issuer.example/keys' }, /either/],
  ['a short secret', { ...settings, BATON_JWT_SECRET: 'hunter2' }, /^Bad setting: BATON_JWT_SECRET must/],
  ['no URL', { ...settings, BATON_JWT_SECRET: '', BATON_JWT_JWKS_URL: 'keys' }, /BATON_JWT_JWKS_URL must/],
  ['a file', { ...settings, BATON_JWT_SECRET: '', BATON_JWT_JWKS_URL: 'file:///keys' }, /BATON_JWT_JWKS_URL must/],
])('%s stops the start, and no secret is repeated', (_, env, message) => {
  expect(() => readConfig(env)).toThrow(message);
  expect(() => readConfig(env)).toThrow(/^Bad setting: /);
  expect(() => readConfig(env)).not.toThrow(/hunter2|thirty-two/);
});
