import type { Context } from '../context.ts';
import type { RegisterAgent } from '../core/agent.ts';
import { DomainError } from '../core/domain-error.ts';
import type { PageArgs } from '../core/page.ts';
import type { AgentFilter, AgentView, UserView } from '../core/reads.ts';

export const agentByName = (_: unknown, { name }: { name: string }, { reads }: Context) => reads().agentByName(name);

export const agents = (
  _: unknown,
  { filter, ...page }: PageArgs & { filter?: AgentFilter | null | undefined },
  { reads }: Context,
) => reads().agents(page, filter);

export const registerAgent = async (
  _: unknown,
  { input }: { input: RegisterAgent },
  { who, agents, reads }: Context,
) => {
  const { id, token } = await agents.register(who(), input);
  const agent = await reads().agent(id);
  if (!agent) throw new DomainError('NOT_FOUND', 'The agent is gone already');
  return { agent, token };
};

export const ownerOfAgent = async ({ ownerId }: AgentView, _: unknown, { reads }: Context): Promise<UserView> => {
  const owner = await reads().user(ownerId);
  if (!owner) throw new DomainError('NOT_FOUND', 'The agent’s owner is gone');
  return owner;
};

export const skillsOfAgent = ({ id }: AgentView, _: unknown, { reads }: Context) => reads().skills(id);

export const tasksOfAgent = ({ id }: AgentView, page: PageArgs, { reads }: Context) =>
  reads().tasks(page, {}, { agent: id });

export const transportOf = ({ url }: AgentView): 'WEBSOCKET' | 'HTTP' | 'GRAPHQL' => {
  if (!url) return 'GRAPHQL';
  return url.startsWith('ws-agent:') ? 'WEBSOCKET' : 'HTTP';
};
