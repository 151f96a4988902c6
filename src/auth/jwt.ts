import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';

// Tokens of somebody else's issuer. Which algorithms are taken depends on the key alone, never on the token.

export type JwtSettings = {
  secret: string | undefined;
  jwksUrl: string | undefined;
  issuer: string;
  audience: string;
  networkClaim: string;
};

export type JwtClaims = { network: string; externalId: string; untilMs: number };

const withSecret = ['HS256', 'HS384', 'HS512'];
const withKeySet = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** No answer, no 200, no JSON, no keys: none of it says anything about the token. */
const issuersFaults = new Set([errors.JOSEError, errors.JWKSTimeout, errors.JWKSInvalid].map(({ code }) => code));

/** Undefined: not a token that the settings let in. Throws when the issuer's keys cannot be fetched. */
export const createJwtReader = ({ secret, jwksUrl, issuer, audience, networkClaim }: JwtSettings) => {
  const options = { issuer, audience, requiredClaims: ['sub', 'exp', networkClaim] };
  const verify = verifier(secret, jwksUrl);
  return async (token: string): Promise<JwtClaims | undefined> => {
    const payload = await verify(token, options).catch((error) => {
      if (error instanceof errors.JOSEError && !issuersFaults.has(error.code)) return undefined;
      throw error;
    });
    const { sub, exp, [networkClaim]: network } = payload ?? {};
    if (typeof sub !== 'string' || sub === '' || exp === undefined || typeof network !== 'string') return undefined;
    return { network, externalId: sub, untilMs: exp * 1_000 };
  };
};

type Verify = (
  token: string,
  options: { issuer: string; audience: string; requiredClaims: string[] },
) => Promise<JWTPayload>;

const verifier = (secret: string | undefined, jwksUrl: string | undefined): Verify => {
  if (secret !== undefined) {
    const key = new TextEncoder().encode(secret);
    return async (token, options) => (await jwtVerify(token, key, { ...options, algorithms: withSecret })).payload;
  }
  const keys: JWTVerifyGetKey = createRemoteJWKSet(new URL(jwksUrl ?? ''));
  return async (token, options) => (await jwtVerify(token, keys, { ...options, algorithms: withKeySet })).payload;
};
