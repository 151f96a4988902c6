import type { Context } from '../context.ts';
import type { Actor } from '../core/actor.ts';
import { DomainError } from '../core/domain-error.ts';
import type { PageArgs } from '../core/page.ts';
import type { NetworkView } from '../core/reads.ts';

export const version = (_: unknown, __: unknown, { version }: Context): string => version;

export const viewer = (_: unknown, __: unknown, { who }: Context): Actor => who();

export const viewerUser = ({ kind, id }: Actor, _: unknown, { reads }: Context) =>
  kind === 'user' ? reads().user(id) : null;

export const viewerAgent = ({ kind, id }: Actor, _: unknown, { reads }: Context) =>
  kind === 'agent' ? reads().agent(id) : null;

export const viewerNetwork = async ({ network }: Actor, _: unknown, { reads }: Context): Promise<NetworkView> => {
  const found = await reads().network(network);
  if (!found) throw new DomainError('NOT_FOUND', 'This network is gone');
  return found;
};

export const viewerAccount = ({ kind, id }: Actor, _: unknown, { reads }: Context) =>
  kind === 'user' ? reads().account(id) : null;

export const viewerInputRequests = (actor: Actor, page: PageArgs, { reads }: Context) =>
  reads().tasks(page, {
    states: ['INPUT_REQUIRED', 'AUTH_REQUIRED'],
    ...(actor.kind === 'user' && { userId: actor.id }),
  });
