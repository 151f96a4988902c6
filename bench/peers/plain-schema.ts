import SchemaBuilder from '@pothos/core';
import type { GraphQLSchema } from 'graphql';
import type { PlainEvent } from './plain-log.ts';

export type PlainServices = {
  send(order: { agent: string; context: string }): Promise<{ id: string }>;
  follow(task: string): AsyncIterable<PlainEvent>;
};

type EventOf<Kind extends PlainEvent['kind']> = Extract<PlainEvent, { kind: Kind }>;

/** What of the hub's schema the load asks for, written as one first writes it. */
export const createPlainSchema = ({ send, follow }: PlainServices): GraphQLSchema => {
  const builder = new SchemaBuilder<Record<never, never>>({});

  const Task = builder.objectRef<{ id: string }>('Task').implement({ fields: (t) => ({ id: t.exposeID('id') }) });
  const Part = builder
    .objectRef<{ text: string }>('Part')
    .implement({ fields: (t) => ({ text: t.exposeString('text') }) });
  const TaskEvent = builder.interfaceRef<PlainEvent>('TaskEvent').implement({
    resolveType: ({ kind }) => (kind === 'STATUS' ? 'StatusEvent' : 'ArtifactEvent'),
    fields: (t) => ({ seq: t.exposeInt('seq') }),
  });
  builder.objectRef<EventOf<'STATUS'>>('StatusEvent').implement({
    interfaces: [TaskEvent],
    fields: (t) => ({ to: t.exposeString('to') }),
  });
  builder.objectRef<EventOf<'ARTIFACT'>>('ArtifactEvent').implement({
    interfaces: [TaskEvent],
    fields: (t) => ({ parts: t.field({ type: [Part], resolve: ({ parts }) => parts }) }),
  });
  const SendMessageInput = builder.inputType('SendMessageInput', {
    fields: (t) => ({
      agent: t.string({ required: true }),
      contextId: t.id({ required: true }),
      text: t.string({ required: true }),
    }),
  });

  builder.queryType({ fields: (t) => ({ version: t.string({ resolve: () => '1' }) }) });
  builder.mutationType({
    fields: (t) => ({
      sendMessage: t.field({
        type: Task,
        args: { input: t.arg({ type: SendMessageInput, required: true }) },
        resolve: (_, { input: { agent, contextId } }) => send({ agent, context: String(contextId) }),
      }),
    }),
  });
  builder.subscriptionType({
    fields: (t) => ({
      taskEvents: t.field({
        type: TaskEvent,
        args: { taskId: t.arg.id({ required: true }) },
        subscribe: (_, { taskId }) => follow(String(taskId)),
        resolve: (event: PlainEvent) => event,
      }),
    }),
  });
  return builder.toSchema();
};
