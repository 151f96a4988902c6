import { type Actor, asUser, checkRank, type Role, type UserStatus } from './actor.ts';
import { DomainError } from './domain-error.ts';

// The users of a network, as its admins keep them.

export type Users = {
  create(actor: Actor, user: NewUser): Promise<{ id: string }>;
  setStatus(actor: Actor, order: { userId: string; status: UserStatus }): Promise<{ id: string }>;
};
type Maybe<T> = T | null | undefined;
export type NewUser = {
  name: string;
  externalId?: Maybe<string>;
  role?: Maybe<Role>;
  status?: Maybe<UserStatus>;
};

export type UserStore = {
  /** Undefined: a user of the network has that external id. */
  create(user: StoredUser): Promise<{ id: string } | undefined>;
  find(network: string, id: string): Promise<{ id: string; role: Role } | undefined>;
  setStatus(id: string, status: UserStatus): Promise<void>;
};
type StoredUser = { network: string; name: string; externalId: string | null; role: Role; status: UserStatus };

export const createUsers = (store: UserStore): Users => ({
  async create(actor, { name, externalId, role, status }) {
    const admin = asUser(actor, 'ADMIN');
    if (!/^\P{C}{1,128}$/u.test(name) || name.toLowerCase() === 'system')
      throw new DomainError('BAD_INPUT', 'A user’s name has 1 to 128 printable characters and is not system');
    if (externalId != null && !/^\P{C}{1,256}$/u.test(externalId))
      throw new DomainError('BAD_INPUT', 'externalId has 1 to 256 printable characters');
    checkRank(admin, role ?? 'MEMBER');
    const user = await store.create({
      network: admin.network,
      name,
      externalId: externalId ?? null,
      role: role ?? 'MEMBER',
      status: status ?? 'ACTIVE',
    });
    if (!user) throw new DomainError('CONFLICT', `A user with the externalId ${externalId} exists already`);
    return user;
  },

  async setStatus(actor, { userId, status }) {
    const admin = asUser(actor, 'ADMIN');
    const user = await store.find(admin.network, userId);
    if (!user) throw new DomainError('NOT_FOUND', `There is no user ${userId}`);
    if (user.id === admin.id) throw new DomainError('FORBIDDEN', 'Nobody changes the own status: ask another admin');
    checkRank(admin, user.role);
    await store.setStatus(user.id, status);
    return user;
  },
});
