import type pg from 'pg';
import type { Assignment, LedgerMessage } from '../core/assignment.ts';
import type { TaskHead } from '../core/head.ts';

const historyLength = 100; // the newest are kept

/** What agents are told when work is handed over: one statement, however many tasks. */
export const readAssignments = async (pool: pg.Pool, tasks: TaskHead[]): Promise<Assignment[]> => {
  const { rows } = await pool.query({
    name: 'read assignments',
    text: `select t.key, t.skill_id, t.requester_name, t.user_id, c.id as context_id, d.metadata, due.at, ledger.messages
      from task t join context c on c.key = t.context_key join task_detail d on d.task_key = t.key
      left join deadline due on due.task_key = t.key and due.kind = 'TURN' and due.number = t.delivery
      cross join lateral (
        select json_agg(m order by m.seq) as messages from (
          select id, seq, author, author_name as "authorName", kind, parts, in_reply_to as "inReplyTo", metadata,
            (extract(epoch from created_at) * 1000)::bigint as "atMs"
          from message where task_key = t.key order by seq desc limit $2
        ) m
      ) ledger
      where t.key = any($1)`,
    values: [tasks.map(({ key }) => key), historyLength],
  });
  const heads = new Map(tasks.map((task) => [task.key, task]));
  return rows.flatMap((row) => {
    const task = heads.get(row.key);
    return task ? [assignmentOf(task, row)] : [];
  });
};

const assignmentOf = (task: TaskHead, row: pg.QueryResultRow): Assignment => {
  const messages = row.messages as LedgerMessage[];
  const asked = messages.findLast(({ author, kind }) => author !== 'AGENT' && startsWork.has(kind)) ?? messages[0];
  if (!asked) throw new Error(`Task ${task.id} has no message`);
  return {
    task,
    contextId: row.context_id,
    message: asked,
    history: messages.filter((message) => message !== asked),
    skill: row.skill_id,
    requester: row.requester_name,
    user: row.user_id,
    deadlineMs: row.at?.getTime() ?? Date.now() + task.executor.turnSeconds * 1_000,
    metadata: row.metadata,
  };
};

const startsWork = new Set(['TASK', 'BROADCAST']);
