import type { ContextView } from '../core/reads.ts';
import { contextById, contexts, tasksOfContext } from '../resolvers/context.ts';
import { builder } from './builder.ts';
import { Task, TaskConnection } from './task.ts';

export const Context = builder.objectRef<ContextView>('Context');
Context.implement({
  description: 'A conversation. It belongs to the user who first used it.',
  fields: (t) => ({
    id: t.exposeID('id'),
    title: t.exposeString('title', { nullable: true }),
    tasks: t.connection({ type: Task, description: 'Newest first.', resolve: tasksOfContext }, TaskConnection),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
});

builder.queryFields((t) => ({
  context: t.field({
    type: Context,
    nullable: true,
    args: {
      id: t.arg.id({ required: true }),
      user: t.arg.id({ description: 'For admins: whose context.' }),
    },
    resolve: contextById,
  }),
  contexts: t.connection(
    {
      type: Context,
      description: 'Newest first.',
      args: { search: t.arg.string({ description: 'A part of the id or title.' }) },
      resolve: contexts,
    },
    { name: 'ContextConnection' },
    { name: 'ContextEdge' },
  ),
}));
