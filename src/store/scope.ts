import { type Actor, hasRole } from '../core/actor.ts';

// What a caller may not see does not exist for it. Every statement that reads for somebody carries one of these
// conditions; $1 is the caller's network, $2 the caller.

export type Scope = { name: string; values: [network: string, actor: string]; task: string; context: string };

export const scopeOf = (actor: Actor): Scope => {
  const values: Scope['values'] = [actor.network, actor.id];
  if (actor.kind === 'agent') return { name: 'agent', values, task: ofAgent('t'), context: contextOfAgent };
  const seesAll = actor.role === 'VIEWER' || hasRole(actor, 'ADMIN');
  return seesAll
    ? {
        name: 'all',
        values,
        task: 't.network_id = $1 and $2::uuid is not null',
        context: 'c.network_id = $1 and $2::uuid is not null',
      }
    : {
        name: 'member',
        values,
        task: 't.network_id = $1 and t.user_id = $2',
        context: 'c.network_id = $1 and c.owner_id = $2',
      };
};

/** What it executes or asked for, and their parents and children. */
const ofAgent = (task: string): string => `${task}.network_id = $1 and (${isIts(task)}
  or exists (select from task parent where parent.key = ${task}.parent_key and ${isIts('parent')})
  or exists (select from task child where child.parent_key = ${task}.key and ${isIts('child')}))`;

const isIts = (task: string): string =>
  `(${task}.agent_id = $2 or (${task}.requester_is_agent and ${task}.requester_id = $2))`;

const contextOfAgent = `c.network_id = $1 and exists (select from task t where t.context_key = c.key and ${isIts('t')})`;
