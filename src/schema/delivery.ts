import { deliveryOutcomes, deliveryStates } from '../core/delivery-state.ts';
import type { DeliveryView } from '../core/reads.ts';
import { ackTask, agentOfDelivery, idOfDelivery, reportStatus, taskOfDelivery } from '../resolvers/delivery.ts';
import { Agent } from './agent.ts';
import { builder } from './builder.ts';
import { PartInput } from './part.ts';
import { Task, TaskState } from './task.ts';

export const DeliveryState = builder.enumType('DeliveryState', { values: deliveryStates });
export const DeliveryOutcome = builder.enumType('DeliveryOutcome', { values: deliveryOutcomes });

export const Delivery = builder.objectRef<DeliveryView>('Delivery');
Delivery.implement({
  description: 'One hand-over of a task to an agent. Its number is the fencing token.',
  fields: (t) => ({
    id: t.id({ resolve: idOfDelivery }),
    number: t.exposeInt('number'),
    task: t.field({ type: Task, resolve: taskOfDelivery }),
    agent: t.field({ type: Agent, resolve: agentOfDelivery }),
    state: t.expose('state', { type: DeliveryState }),
    outcome: t.expose('outcome', { type: DeliveryOutcome, nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true }),
    ackedAt: t.expose('ackedAt', { type: 'DateTime', nullable: true }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true }),
  }),
});

const ReportStatusInput = builder.inputType('ReportStatusInput', {
  fields: (t) => ({
    taskId: t.id({ required: true }),
    delivery: t.int({ required: true, description: 'The number of your delivery.' }),
    n: t.int({ description: 'Counts the delivery’s reports from 1: a repeated one is answered and not stored again.' }),
    state: t.field({ type: TaskState, required: true }),
    text: t.string(),
    parts: t.field({ type: [PartInput] }),
    reason: t.string({ description: 'A stable code, for FAILED and REJECTED.' }),
    usage: t.field({ type: 'JSON' }),
  }),
});

builder.mutationFields((t) => ({
  ackTask: t.field({
    type: Task,
    nullable: true,
    description: 'An agent takes a delivery to heart: the task no longer expires.',
    args: { id: t.arg.id({ required: true }), delivery: t.arg.int({ required: true }) },
    resolve: ackTask,
  }),
  reportStatus: t.field({
    type: Task,
    nullable: true,
    description: 'An agent tells how far it is, asks, or ends the task.',
    args: { input: t.arg({ type: ReportStatusInput, required: true }) },
    resolve: reportStatus,
  }),
}));
