import type { Context } from '../context.ts';
import { DomainError } from '../core/domain-error.ts';
import type { AgentView, DeliveryView } from '../core/reads.ts';
import type { StatusReport } from '../core/task.ts';
import { present } from './task.ts';

export const ackTask = async (_: unknown, order: { id: string; delivery: number }, context: Context) => {
  const { key } = await context.tasks.acknowledge(context.who(), order);
  return present(context, key);
};

export const reportStatus = async (_: unknown, { input }: { input: StatusReport }, context: Context) => {
  const { key } = await context.tasks.reportStatus(context.who(), input);
  return present(context, key);
};

export const idOfDelivery = ({ taskKey, number }: DeliveryView): string =>
  Buffer.from(`${taskKey}/${number}`).toString('base64url');

export const taskOfDelivery = ({ taskKey }: DeliveryView, _: unknown, context: Context) => present(context, taskKey);

export const agentOfDelivery = async (
  { agentId }: DeliveryView,
  _: unknown,
  { reads }: Context,
): Promise<AgentView> => {
  const agent = await reads().agent(agentId);
  if (!agent) throw new DomainError('NOT_FOUND', 'The delivery’s agent is gone');
  return agent;
};
