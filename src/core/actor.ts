import { DomainError } from './domain-error.ts';

// Who is asking. The same on every door; what the message says of its sender never counts.

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER';
export type UserStatus = 'ACTIVE' | 'PENDING_APPROVAL' | 'SUSPENDED' | 'BLOCKED';

export type UserActor = {
  kind: 'user';
  id: string;
  name: string;
  network: string;
  role: Role;
  status: UserStatus;
  /** The key may only read. */
  isReadOnly: boolean;
};
export type AgentActor = { kind: 'agent'; id: string; name: string; network: string; owner: string };
export type Actor = UserActor | AgentActor;

/** What was shown at the door: who it is, and what must still hold while a connection stays open. */
export type Pass = { actor: Actor; credential: Credential };
type Credential =
  | { kind: 'key'; id: string }
  | { kind: 'agent'; id: string; hash: Uint8Array }
  | { kind: 'jwt'; user: string; untilMs: number };

const ranks: Record<Role, number> = { VIEWER: 0, MEMBER: 1, ADMIN: 2, OWNER: 3 };

export const hasRole = (actor: Actor, role: Role): boolean => actor.kind === 'user' && ranks[actor.role] >= ranks[role];

/** For whoever changes something: a user of that role, active, with a key that may write. */
export const asUser = (actor: Actor, role: Role): UserActor => {
  if (actor.kind === 'agent') throw new DomainError('FORBIDDEN', 'This is for users; the token is an agent’s');
  const user = asWriter(actor);
  if (!hasRole(user, role))
    throw new DomainError('FORBIDDEN', `This needs the role ${role}; ${user.name} is ${user.role}`);
  if (user.status !== 'ACTIVE') throw inactive(user);
  return user;
};

export const asWriter = (user: UserActor): UserActor => {
  if (user.isReadOnly) throw new DomainError('FORBIDDEN', 'This key may only read');
  return user;
};

export const inactive = ({ name, status }: UserActor): DomainError =>
  new DomainError('USER_INACTIVE', `${name} is ${status}: only active users may do this`, { state: status });

export const asAgent = (actor: Actor): AgentActor => {
  if (actor.kind === 'user') throw new DomainError('FORBIDDEN', 'This is for agents; the token is a user’s');
  return actor;
};

/** Only an owner makes, or speaks for, admins and owners. */
export const checkRank = (actor: UserActor, role: Role): void => {
  if (ranks[role] >= ranks.ADMIN && actor.role !== 'OWNER')
    throw new DomainError(
      'FORBIDDEN',
      `This concerns the role ${role} and needs an OWNER; ${actor.name} is ${actor.role}`,
    );
};
