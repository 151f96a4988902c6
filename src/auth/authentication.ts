import type { Actor, Pass } from '../core/actor.ts';
import { fingerprint, isSameHash } from '../core/api-key.ts';
import { DomainError } from '../core/domain-error.ts';
import type { JwtClaims } from './jwt.ts';

// Who is asking? The same answer on every door.

type AuthenticationStore = {
  /** Keys and agents' tokens of that prefix which open the door now. */
  findKeys(prefix: string): Promise<{ id: string; hash: Uint8Array; actor: Actor; isStale: boolean }[]>;
  /** Not with every request: a minute is fine enough for a person. */
  markUsed(key: string): Promise<void>;
  findAgentTokens(prefix: string): Promise<{ hash: Uint8Array; actor: Actor }[]>;
  findUser(network: string, externalId: string): Promise<Actor | undefined>;
  /** The passes that would not be given again as they are: revoked, expired, or the user's rights are others now. */
  findEnded(passes: Pass[]): Promise<Pass[]>;
};

export type Authentication = {
  /** Undefined: nobody we know. */
  authenticate(token: string): Promise<Pass | undefined>;
  /** From an `Authorization` header or the like. Without one nobody asks; with a bad one: UNAUTHENTICATED. */
  readAuthorization(authorization: string | null | undefined): Promise<Pass | undefined>;
};

type Options = { store: AuthenticationStore; readJwt: ((token: string) => Promise<JwtClaims | undefined>) | undefined };

const longest = 8_192;

export const createAuthentication = ({ store, readJwt }: Options): Authentication => {
  const authenticate = async (token: string): Promise<Pass | undefined> => {
    if (token.length > longest || /\p{C}/u.test(token)) return undefined; // PostgreSQL takes no NUL
    const { prefix, hash } = fingerprint(token);
    if (token.startsWith('ba_')) {
      const found = (await store.findAgentTokens(prefix)).find((each) => isSameHash(each.hash, hash));
      return found && { actor: found.actor, credential: { kind: 'agent', id: found.actor.id, hash } };
    }
    const key = (await store.findKeys(prefix)).find((each) => isSameHash(each.hash, hash));
    if (key?.isStale) await store.markUsed(key.id);
    if (key) return { actor: key.actor, credential: { kind: 'key', id: key.id } };
    const claims = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token) ? await readJwt?.(token) : undefined;
    const actor = claims && (await store.findUser(claims.network, claims.externalId));
    return actor && { actor, credential: { kind: 'jwt', user: actor.id, untilMs: claims.untilMs } };
  };

  return {
    authenticate,
    async readAuthorization(authorization) {
      if (authorization == null || authorization === '') return undefined;
      const [, token] = authorization.match(/^Bearer +(\S+)$/i) ?? [];
      const pass = token === undefined ? undefined : await authenticate(token);
      if (!pass)
        throw new DomainError(
          'UNAUTHENTICATED',
          'The token is not known here, or no longer: send `Authorization: Bearer <key>`',
        );
      return pass;
    },
  };
};
