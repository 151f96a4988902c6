import { afterAll, beforeAll, expect, test } from 'vitest';
import { doors } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';
import { audience, issuer, openIssuer, signed } from '../support/issuer.ts';

// The issuer's server is in trouble: that is no fault of who asks, and nothing of it is told.

const theirs = await openIssuer();
const house = useHouse({
  BATON_JWT_JWKS_URL: theirs.url,
  BATON_JWT_ISSUER: issuer,
  BATON_JWT_AUDIENCE: audience,
});
afterAll(theirs.close);

let token: string;
beforeAll(async () => {
  const { network } = await house.get('{ viewer { network { id } } }');
  await house.createUser({ externalId: 'ada' });
  const { privateKey: key } = theirs.pairOf('EdDSA');
  token = await signed({ key, header: { alg: 'EdDSA', kid: 'EdDSA' }, claims: { sub: 'ada', network: network.id } });
});

const viewer = { query: '{ viewer { user { id } } }' };

test.each([
  ['cuts the connection', () => theirs.answer((request) => request.socket.destroy())],
  ['answers 500', () => theirs.answer((_, response) => response.writeHead(500).end('{"keys":[]}'))],
  ['answers 302', () => theirs.answer((_, response) => response.writeHead(302, { location: '/' }).end())],
  ['answers with a page', () => theirs.answer((_, response) => response.end('<h1>Canary</h1>'))],
  ['answers with JSON that holds no keys', () => theirs.answer((_, response) => response.end('{"canary":true}'))],
  ['never answers', () => theirs.answer(() => undefined)],
])('a server of keys that %s is told as INTERNAL, and keys of our own go on', async (_, fail) => {
  fail();
  const [http, socket] = await Promise.all([
    house.ask(viewer.query, {}, token),
    doors.socket(house, viewer, token).catch((error: unknown) => error),
  ]);
  expect(http.errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
  expect(JSON.stringify(http)).not.toMatch(/canary|fetch|jwks|127\.0\.0\.1|key set/i);
  expect(socket).toMatchObject({ code: 1013, reason: 'Try again later' });
  expect(await house.codeOf(viewer.query)).toBeUndefined();
});

test('a server of keys that is back opens again', async () => {
  theirs.answer();
  expect(await house.codeOf(viewer.query, {}, token)).toBeUndefined();
  expect((await doors.socket(house, viewer, token)).errors).toBeUndefined();
});

test('a server of keys that is gone stops nobody whose key is known', async () => {
  await theirs.close();
  expect(await house.codeOf(viewer.query, {}, token)).toBeUndefined();
});
