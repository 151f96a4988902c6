import type { Actor } from '../core/actor.ts';
import {
  version,
  viewer,
  viewerAccount,
  viewerAgent,
  viewerInputRequests,
  viewerNetwork,
  viewerUser,
} from '../resolvers/hub.ts';
import { Agent } from './agent.ts';
import { builder } from './builder.ts';
import { Network } from './network.ts';
import { Task, TaskConnection } from './task.ts';
import { Account, User } from './user.ts';

const Viewer = builder.objectRef<Actor>('Viewer').implement({
  description: 'Who is asking.',
  fields: (t) => ({
    user: t.field({ type: User, nullable: true, description: 'Null under an agent’s token.', resolve: viewerUser }),
    agent: t.field({ type: Agent, nullable: true, description: 'Null under a user’s token.', resolve: viewerAgent }),
    network: t.field({ type: Network, resolve: viewerNetwork }),
    account: t.field({ type: Account, nullable: true, resolve: viewerAccount }),
    inputRequests: t.connection(
      {
        type: Task,
        description: 'Tasks that wait for an answer, newest first.',
        resolve: viewerInputRequests,
      },
      TaskConnection,
    ),
  }),
});

builder.queryFields((t) => ({
  version: t.string({ description: 'The version of this hub. The only thing that needs no key.', resolve: version }),
  viewer: t.field({ type: Viewer, description: 'Who is asking.', resolve: viewer }),
}));
