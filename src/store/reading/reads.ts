import type pg from 'pg';
import type { Actor } from '../../core/actor.ts';
import type { Reads } from '../../core/reads.ts';
import { scopeOf } from '../scope.ts';
import { readAgentsFor } from './agent.ts';
import { readArtifacts } from './artifact.ts';
import { readContextsFor } from './context.ts';
import { readDeliveries } from './delivery.ts';
import { readEvents } from './event.ts';
import { readMessagesFor } from './message.ts';
import { readTasksFor } from './task.ts';
import { readUsersFor } from './user.ts';

/** The read side for one caller: lists and look-ups are scoped here, what hangs on a task is reached only through it. */
export const createReads = (pool: pg.Pool, actor: Actor): Reads => {
  const scope = scopeOf(actor);
  return {
    ...readTasksFor(pool, scope),
    ...readMessagesFor(pool, scope),
    ...readArtifacts(pool),
    ...readEvents(pool),
    ...readDeliveries(pool),
    ...readContextsFor(pool, scope),
    ...readAgentsFor(pool, scope),
    ...readUsersFor(pool, actor),
  };
};
