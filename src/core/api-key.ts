import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Actor, asUser, checkRank, type Role } from './actor.ts';
import { DomainError } from './domain-error.ts';

// Keys and tokens are shown once. What is stored of one is its SHA-256; the prefix finds the row.

/** A fresh key: 256 random bits behind a mark that secret scanners can look for. */
export const createApiKey = (): string => createSecret('bk_');
export const createAgentToken = (): string => createSecret('ba_');

const createSecret = (mark: string): string => `${mark}${randomBytes(32).toString('base64url')}`;

/** What is stored of a key: the prefix finds the row, the hash proves the rest. */
export const fingerprint = (key: string): { prefix: string; hash: Uint8Array<ArrayBuffer> } => ({
  prefix: [...key].slice(0, 8).join(''),
  hash: new Uint8Array(createHash('sha256').update(key).digest()),
});

export const isSameHash = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

/** What a key may be bound to; none: all that its user may. */
const keyScopes = ['read', 'write'] as const;

export type ApiKeys = {
  create(actor: Actor, key: NewKey): Promise<{ id: string; key: string }>;
  revoke(actor: Actor, id: string): Promise<string>;
};
type Maybe<T> = T | null | undefined;
export type NewKey = {
  userId?: Maybe<string>;
  name: string;
  scopes?: Maybe<readonly string[]>;
  expiresAt?: Maybe<Date>;
};

export type ApiKeyStore = {
  findUser(network: string, id: string): Promise<{ id: string; role: Role } | undefined>;
  create(key: StoredKey): Promise<{ id: string }>;
  findKey(network: string, id: string): Promise<{ id: string; userId: string; role: Role } | undefined>;
  revoke(id: string): Promise<void>;
};
type StoredKey = {
  userId: string;
  name: string;
  scopes: string[];
  expiresAt: Date | null;
  prefix: string;
  hash: Uint8Array<ArrayBuffer>;
};

export const createApiKeys = (store: ApiKeyStore, now: () => number): ApiKeys => ({
  async create(actor, { userId, name, scopes, expiresAt }) {
    const admin = asUser(actor, 'ADMIN');
    const user = await store.findUser(admin.network, userId ?? admin.id);
    if (!user) throw new DomainError('NOT_FOUND', `There is no user ${userId}`);
    if (user.id !== admin.id) checkRank(admin, user.role);
    if (!/^\P{C}{1,128}$/u.test(name))
      throw new DomainError('BAD_INPUT', 'A key’s name has 1 to 128 printable characters');
    const unknown = scopes?.find((scope) => !keyScopes.some((known) => known === scope));
    if (unknown !== undefined)
      throw new DomainError('BAD_INPUT', `There is no scope ${unknown}: choose from ${keyScopes.join(', ')}`);
    if (expiresAt && expiresAt.getTime() <= now()) throw new DomainError('BAD_INPUT', 'expiresAt lies in the past');
    const key = createApiKey();
    const stored = {
      userId: user.id,
      name,
      scopes: [...(scopes ?? [])],
      expiresAt: expiresAt ?? null,
      ...fingerprint(key),
    };
    return { id: (await store.create(stored)).id, key };
  },

  async revoke(actor, id) {
    const admin = asUser(actor, 'ADMIN');
    const key = await store.findKey(admin.network, id);
    if (!key) throw new DomainError('NOT_FOUND', `There is no key ${id}`);
    if (key.userId !== admin.id) checkRank(admin, key.role);
    await store.revoke(key.id);
    return key.id;
  },
});
