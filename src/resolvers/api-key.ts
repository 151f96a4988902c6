import type { Context } from '../context.ts';
import type { NewKey } from '../core/api-key.ts';
import { DomainError } from '../core/domain-error.ts';

export const createApiKey = async (_: unknown, { input }: { input: NewKey }, { who, apiKeys, reads }: Context) => {
  const { id, key } = await apiKeys.create(who(), input);
  const apiKey = await reads().apiKey(id);
  if (!apiKey) throw new DomainError('NOT_FOUND', 'The key is gone already');
  return { apiKey, key };
};

export const revokeApiKey = (_: unknown, { id }: { id: string }, { who, apiKeys }: Context) =>
  apiKeys.revoke(who(), id);
