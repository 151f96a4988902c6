import type { AccountView, UserView } from '../core/reads.ts';
import { accountOfUser, createUser, setUserStatus } from '../resolvers/user.ts';
import { builder } from './builder.ts';

const Role = builder.enumType('Role', { values: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'] as const });
const UserStatus = builder.enumType('UserStatus', {
  description: 'Only ACTIVE users may start work.',
  values: ['ACTIVE', 'PENDING_APPROVAL', 'SUSPENDED', 'BLOCKED'] as const,
});

export const Account = builder.objectRef<AccountView>('Account').implement({
  description: 'A user’s money, in US dollars.',
  fields: (t) => ({
    balance: t.expose('balance', { type: 'Decimal' }),
    held: t.expose('held', { type: 'Decimal', description: 'Reserved for tasks that have not ended.' }),
    available: t.expose('available', { type: 'Decimal' }),
  }),
});

export const User = builder.objectRef<UserView>('User').implement({
  description: 'A person or a system that asks for work.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    status: t.expose('status', { type: UserStatus }),
    role: t.expose('role', { type: Role }),
    account: t.field({
      type: Account,
      nullable: true,
      description: 'Your own, or any for admins.',
      resolve: accountOfUser,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

const CreateUserInput = builder.inputType('CreateUserInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    externalId: t.string({ description: 'The `sub` of the user’s JWTs.' }),
    role: t.field({ type: Role, defaultValue: 'MEMBER' }),
    status: t.field({ type: UserStatus, defaultValue: 'ACTIVE' }),
  }),
});

builder.mutationFields((t) => ({
  createUser: t.field({
    type: User,
    nullable: true,
    description: 'Makes a user of your network. For admins; only owners make admins and owners.',
    args: { input: t.arg({ type: CreateUserInput, required: true }) },
    resolve: createUser,
  }),
  setUserStatus: t.field({
    type: User,
    nullable: true,
    description: 'Approves, suspends or blocks a user. What is queued already goes on.',
    args: { userId: t.arg.id({ required: true }), status: t.arg({ type: UserStatus, required: true }) },
    resolve: setUserStatus,
  }),
}));
