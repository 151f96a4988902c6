import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

// Somebody else's issuer of tokens, with its keys on a real server.

export const issuer = 'https://issuer.example';
export const audience = 'baton';

type Signing = {
  key: CryptoKey | Uint8Array;
  header: JWTHeaderParameters;
  /** A claim that is undefined is left out. */
  claims: JWTPayload;
};

/** A token that is fine but for what is said. */
export const signed = ({ key, header, claims }: Signing): Promise<string> => {
  const now = Math.floor(Date.now() / 1_000);
  const all = { iss: issuer, aud: audience, iat: now, exp: now + 600, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader(header).sign(key);
};

/** A token that nobody signed, or with a signature of the caller's own. */
export const unsigned = (header: object, claims: object, signature = ''): string =>
  `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${signature}`;

export const algorithms = ['RS256', 'EdDSA', 'ES256'] as const;
export type Algorithm = (typeof algorithms)[number];

/** A server of keys, one for each algorithm, whose kid is the algorithm's name. */
export const openIssuer = async () => {
  const pairs = new Map(
    await Promise.all(algorithms.map(async (alg) => [alg, await generateKeyPair(alg, { extractable: true })] as const)),
  );
  const pairOf = (alg: Algorithm) => {
    const pair = pairs.get(alg);
    if (!pair) throw new Error(`There is no key for ${alg}`);
    return pair;
  };
  const keys = await Promise.all(
    algorithms.map(async (alg) => ({ ...(await exportJWK(pairOf(alg).publicKey)), alg, kid: alg, use: 'sig' })),
  );
  const serveKeys: RequestListener = (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys }));
  };
  let listener = serveKeys;
  const server = createServer((request, response) => {
    response.setHeader('connection', 'close');
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    keys,
    pairOf,
    /** How it answers from now on; without an argument, with its keys. */
    answer: (next: RequestListener = serveKeys): void => {
      listener = next;
    },
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
