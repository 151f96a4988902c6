import type { Context } from '../context.ts';
import type { UserStatus } from '../core/actor.ts';
import type { UserView } from '../core/reads.ts';
import type { NewUser } from '../core/user.ts';

export const accountOfUser = ({ id }: UserView, _: unknown, { reads }: Context) => reads().account(id);

export const createUser = async (_: unknown, { input }: { input: NewUser }, { who, users, reads }: Context) => {
  const { id } = await users.create(who(), input);
  return reads().user(id);
};

export const setUserStatus = async (
  _: unknown,
  order: { userId: string; status: UserStatus },
  { who, users, reads }: Context,
) => {
  const { id } = await users.setStatus(who(), order);
  return reads().user(id);
};
