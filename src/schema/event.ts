import type { EventView } from '../core/reads.ts';
import { isTerminal } from '../core/task-state.ts';
import {
  chargeOfEvent,
  detailOf,
  messageOfEvent,
  statusMessageOfEvent,
  taskEvents,
  taskOfEvent,
} from '../resolvers/event.ts';
import { builder } from './builder.ts';
import { Charge } from './charge.ts';
import { DeliveryOutcome, DeliveryState } from './delivery.ts';
import { Message } from './message.ts';
import { Part } from './part.ts';
import { Task, TaskState } from './task.ts';

type EventOf<Kind extends EventView['kind']> = Extract<EventView, { kind: Kind }>;

const typeNames: Record<EventView['kind'], string> = {
  STATUS: 'StatusEvent',
  MESSAGE: 'MessageEvent',
  ARTIFACT: 'ArtifactEvent',
  DELIVERY: 'DeliveryEvent',
  CHARGE: 'ChargeEvent',
};

export const TaskEvent = builder.interfaceRef<EventView>('TaskEvent');
export const TaskEventConnection = builder.connectionObject(
  { type: TaskEvent, name: 'TaskEventConnection' },
  { name: 'TaskEventEdge' },
);
TaskEvent.implement({
  description: 'One line of a task’s log: what changed, who did it, when.',
  resolveType: ({ kind }) => typeNames[kind],
  fields: (t) => ({
    task: t.field({ type: Task, description: 'The task as it is now, not then.', resolve: taskOfEvent }),
    seq: t.exposeInt('seq', { description: 'Counts the task’s events from 1, without a gap.' }),
    actor: t.exposeString('actor', { description: 'The name of a user or agent, or system.' }),
    detail: t.string({ nullable: true, resolve: detailOf }),
    at: t.field({ type: 'DateTime', resolve: ({ atMs }) => new Date(atMs) }),
  }),
});

builder.objectRef<EventOf<'STATUS'>>('StatusEvent').implement({
  interfaces: [TaskEvent],
  fields: (t) => ({
    from: t.expose('from', { type: TaskState, nullable: true }),
    to: t.expose('to', { type: TaskState }),
    reason: t.string({ nullable: true, description: 'A stable code.', resolve: ({ payload }) => payload.reason }),
    message: t.field({ type: Message, nullable: true, resolve: statusMessageOfEvent }),
    text: t.string({ nullable: true, resolve: ({ payload }) => payload.text }),
    final: t.boolean({ description: 'The task ended with it.', resolve: ({ to }) => isTerminal(to) }),
  }),
});

builder.objectRef<EventOf<'MESSAGE'>>('MessageEvent').implement({
  interfaces: [TaskEvent],
  fields: (t) => ({ message: t.field({ type: Message, resolve: messageOfEvent }) }),
});

builder.objectRef<EventOf<'ARTIFACT'>>('ArtifactEvent').implement({
  description: 'A chunk of an artifact.',
  interfaces: [TaskEvent],
  fields: (t) => ({
    artifactId: t.string({ resolve: ({ payload }) => payload.artifactId }),
    parts: t.field({ type: [Part], resolve: ({ payload }) => payload.parts }),
    append: t.boolean({ resolve: ({ payload }) => payload.append }),
    lastChunk: t.boolean({ resolve: ({ payload }) => payload.lastChunk }),
  }),
});

builder.objectRef<EventOf<'DELIVERY'>>('DeliveryEvent').implement({
  interfaces: [TaskEvent],
  fields: (t) => ({
    from: t.expose('from', { type: DeliveryState, nullable: true }),
    to: t.expose('to', { type: DeliveryState }),
    number: t.int({ resolve: ({ payload }) => payload.number }),
    outcome: t.field({ type: DeliveryOutcome, nullable: true, resolve: ({ payload }) => payload.outcome }),
  }),
});

builder.objectRef<EventOf<'CHARGE'>>('ChargeEvent').implement({
  interfaces: [TaskEvent],
  fields: (t) => ({
    charge: t.field({
      type: Charge,
      nullable: true,
      description: 'Null: not yours to see.',
      resolve: chargeOfEvent,
    }),
  }),
});

builder.subscriptionFields((t) => ({
  taskEvents: t.field({
    type: TaskEvent,
    description:
      'A task’s events after `after`, without a gap or a duplicate: first those that happened, then each as it happens. Completes when all is sent and the task is terminal.',
    args: {
      taskId: t.arg.id({ required: true }),
      after: t.arg.int({ defaultValue: 0, description: 'The number of the last event you know.' }),
      keepOpen: t.arg.boolean({ defaultValue: false, description: 'Wait for a retry instead of completing.' }),
    },
    subscribe: taskEvents,
    resolve: (event) => event,
  }),
}));
