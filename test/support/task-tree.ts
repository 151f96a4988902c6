import { randomUUID } from 'node:crypto';
import type { House } from './doors.ts';

type Agent = { id: string; name: string };

/** A task below another one, as a delegation would make it: in a context of its own, with the parent's messages and log. */
export const insertChild = async (
  { query }: Pick<House, 'query'>,
  parentId: string,
  { executor, requester }: { executor: Agent; requester: Agent },
): Promise<{ id: string; contextId: string }> => {
  const { rows } = await query('select key, context_key, depth from task where id = $1', [parentId]);
  const { key: parent, context_key, depth } = rows[0];
  const [key, context, contextId] = [randomUUID(), randomUUID(), `child-${randomUUID()}`];
  const copy = (table: string, where: string, from: string, change: object) =>
    query(
      `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || $2::jsonb)).* from ${table} t where ${where} = $1`,
      [from, JSON.stringify(change)],
    );
  await copy('context', 'key', context_key, { key: context, id: contextId });
  await copy('task', 'key', parent, {
    key,
    id: key,
    context_key: context,
    parent_key: parent,
    depth: depth + 1,
    agent_id: executor.id,
    agent_name: executor.name,
    requester_id: requester.id,
    requester_is_agent: true,
    requester_name: requester.name,
  });
  await copy('task_detail', 'task_key', parent, { task_key: key });
  await copy('event', 'task_key', parent, { task_key: key });
  await copy('delivery', 'task_key', parent, { task_key: key, agent_id: executor.id });
  await query(
    `insert into message select (jsonb_populate_record(null::message, to_jsonb(m) || jsonb_build_object('task_key', $2::text, 'id', gen_random_uuid()))).*
      from message m where task_key = $1`,
    [parent, key],
  );
  return { id: key, contextId };
};
