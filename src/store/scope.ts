import { type Actor, hasRole } from '../core/actor.ts';

// What a caller may not see does not exist for it. Every statement that reads for somebody carries one of these
// conditions; $1 is the caller's network, $2 the caller.

export type Scope = {
  name: string;
  values: [network: string, actor: string];
  task: string;
  context: string;
  /** Tasks whose price the caller may see. */
  money: string;
};

export const scopeOf = (actor: Actor): Scope => {
  const values: Scope['values'] = [actor.network, actor.id];
  if (actor.kind === 'agent')
    return { name: 'agent', values, task: ofAgent('t'), context: contextOfAgent, money: isOwn };
  const all = { task: isAny('t'), context: isAny('c') };
  if (hasRole(actor, 'ADMIN')) return { name: 'admin', values, ...all, money: isAny('t') };
  if (actor.role === 'VIEWER') return { name: 'viewer', values, ...all, money: isOwn };
  return { name: 'member', values, task: isOwn, context: 'c.network_id = $1 and c.owner_id = $2', money: isOwn };
};

const isAny = (row: string): string => `${row}.network_id = $1 and $2::uuid is not null`;
const isOwn = 't.network_id = $1 and t.user_id = $2';

/** What it executes or asked for, and their parents and children. */
const ofAgent = (task: string): string => `${task}.network_id = $1 and (${isIts(task)}
  or exists (select from task parent where parent.key = ${task}.parent_key and ${isIts('parent')})
  or exists (select from task child where child.parent_key = ${task}.key and ${isIts('child')}))`;

const isIts = (task: string): string =>
  `(${task}.agent_id = $2 or (${task}.requester_is_agent and ${task}.requester_id = $2))`;

const contextOfAgent = `c.network_id = $1 and exists (select from task t where t.context_key = c.key and ${isIts('t')})`;
