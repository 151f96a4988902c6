import { exportJWK, exportSPKI, generateKeyPair, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeIn, doorNames, doors } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';
import { algorithms, audience, issuer, openIssuer, signed, unsigned } from '../support/issuer.ts';

// Tokens of somebody else's issuer, whose public keys the hub fetches.

const theirs = await openIssuer();
const settings = { BATON_JWT_JWKS_URL: theirs.url, BATON_JWT_ISSUER: issuer, BATON_JWT_AUDIENCE: audience };
const house = useHouse({ ...settings, BATON_JWT_NETWORK_CLAIM: 'https://baton.example/network' });
afterAll(theirs.close);

let claims: Record<string, unknown>;
beforeAll(async () => {
  const { network } = await house.get('{ viewer { network { id } } }');
  claims = { sub: 'ada', 'https://baton.example/network': network.id };
  await house.createUser({ name: 'ada', externalId: 'ada' });
});

const viewer = { query: '{ viewer { user { name } } }' };
const { privateKey } = theirs.pairOf('RS256');
const text = (key: string): Uint8Array => new TextEncoder().encode(key);

describe.each(doorNames)('through %s', (door) => {
  const codeOf = async (token: string | Promise<string>) => codeIn(await doors[door](house, viewer, await token));

  test.each(algorithms)('a token signed by %s opens, with its kid and without', async (alg) => {
    const key = theirs.pairOf(alg).privateKey;
    const { data } = await doors[door](house, viewer, await signed({ key, header: { alg, kid: alg }, claims }));
    expect(data.viewer.user.name).toBe('ada');
    expect(await codeOf(signed({ key, header: { alg }, claims }))).toBeUndefined();
  });

  test.each([
    ['nobody signed', () => unsigned({ alg: 'none', kid: 'RS256' }, { ...claims, iss: issuer, aud: audience })],
    ['has an unknown kid', () => signed({ key: privateKey, header: { alg: 'RS256', kid: 'other' }, claims })],
    ['has the kid of another key', () => signed({ key: privateKey, header: { alg: 'RS256', kid: 'ES256' }, claims })],
    [
      'an unknown key signed, with a known kid',
      async () =>
        signed({ key: (await generateKeyPair('RS256')).privateKey, header: { alg: 'RS256', kid: 'RS256' }, claims }),
    ],
    [
      'brings its own key',
      async () => {
        const { publicKey, privateKey: key } = await generateKeyPair('RS256', { extractable: true });
        return signed({ key, header: { alg: 'RS256', jwk: await exportJWK(publicKey) }, claims });
      },
    ],
    [
      'the text of the public key signed, as PEM',
      async () => {
        const key = text(await exportSPKI(theirs.pairOf('RS256').publicKey));
        return signed({ key, header: { alg: 'HS256', kid: 'RS256' }, claims });
      },
    ],
    [
      'the text of the public key signed, as JSON',
      () => signed({ key: text(JSON.stringify(theirs.keys[0])), header: { alg: 'HS256', kid: 'RS256' }, claims }),
    ],
    [
      'another algorithm of the same key signed',
      async () => {
        const key = await importJWK(await exportJWK(privateKey), 'PS256');
        return signed({ key, header: { alg: 'PS256', kid: 'RS256' }, claims });
      },
    ],
    ['has expired', () => signed({ key: privateKey, header: { alg: 'RS256' }, claims: { ...claims, exp: 1 } })],
    [
      'names its network by the usual claim instead of the configured one',
      () =>
        signed({
          key: privateKey,
          header: { alg: 'RS256' },
          claims: { sub: 'ada', network: Object.values(claims)[1] },
        }),
    ],
  ])('a token that %s opens nothing', async (_, make) => {
    expect(await codeOf(make())).toBe('UNAUTHENTICATED');
  });
});
