import type { Context } from '../context.ts';

export const createNetwork = async (_: unknown, { name }: { name: string }, { who, networks }: Context) => {
  const { id, key } = await networks.create(who(), name);
  return { network: { id, name }, key };
};
