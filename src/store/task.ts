import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Message } from '../core/command.ts';
import { parseMicros } from '../core/money.ts';
import type { SendingStore } from '../core/sending.ts';
import { isUuid } from '../core/uuid.ts';
import { executorColumns, executorOf, taskColumns, taskHead } from './heads.ts';
import { scopeOf } from './scope.ts';

/** What commands look up before they are decided: one statement each. */
export const createTaskStore = (
  pool: pg.Pool,
): SendingStore & { readStops(tasks: string[]): Promise<{ task: string; isConfirmed: boolean }[]> } => ({
  async findTask(actor, id) {
    if (!isUuid(id)) return undefined;
    const { name, values, task } = scopeOf(actor);
    const { rows } = await pool.query({
      name: `find task, ${name}`,
      text: `select ${taskColumns}, null::text[] as texts, c.id as context_id, t.user_id, t.requester_id, t.skill_id
        from task t join agent a on a.id = t.agent_id join context c on c.key = t.context_key where t.id = $3 and ${task}`,
      values: [...values, id],
    });
    const [row] = rows;
    return (
      row && {
        head: taskHead(row),
        contextId: row.context_id,
        user: row.user_id,
        requester: row.requester_id,
        skill: row.skill_id,
      }
    );
  },

  async findMessage(network, id) {
    const { rows } = await pool.query({
      name: 'find message',
      text: `select ${messageColumns}, t.id as task from message m join task t on t.key = m.task_key where m.network_id = $1 and m.id = $2`,
      values: [network, id],
    });
    const [row] = rows;
    return row && { message: messageOf(row), task: row.task };
  },

  async readLedger(task, limit) {
    const { rows } = await pool.query({
      name: 'read ledger',
      text: `select ${messageColumns} from message m where m.task_key = $1 order by m.seq limit $2`,
      values: [task, limit],
    });
    return rows.map(messageOf);
  },

  async findAgent(network, by) {
    const [column, value] = 'name' in by ? ['name', by.name] : ['id', by.id];
    const { rows } = await pool.query({
      name: `find agent by ${column}`,
      text: `select a.id as agent_id, a.name as agent_name, ${executorColumns},
          (select coalesce(json_agg(json_build_object('id', s.skill_id, 'price', s.price::text)), '[]') from skill s where s.agent_id = a.id) as skills
        from agent a where a.network_id = $1 and a.${column} = $2 and a.removed_at is null`,
      values: [network, value],
    });
    const [row] = rows;
    return (
      row && {
        executor: executorOf(row),
        skills: (row.skills as { id: string; price: string }[]).map(({ id, price }) => ({
          id,
          micros: parseMicros(price) ?? 0n,
        })),
      }
    );
  },

  async findAccount(user) {
    const { rows } = await pool.query({
      name: 'find account',
      text: 'select id from account where user_id = $1',
      values: [user],
    });
    return rows[0]?.id ?? randomUUID();
  },

  async readStops(tasks) {
    const { rows } = await pool.query({
      name: 'read stops',
      text: `select t.key, d.confirmed_at is not null as confirmed
        from task t join delivery d on d.task_key = t.key and d.number = t.delivery
        where t.key = any($1) and d.delivered_at is not null
          and (d.confirmed_at is not null or exists (select from lane l where l.agent_id = d.agent_id and l.context_key = t.context_key and l.running = t.key))`,
      values: [tasks],
    });
    return rows.map(({ key, confirmed }) => ({ task: key, isConfirmed: confirmed }));
  },
});

const messageColumns = 'm.id, m.author, m.author_name, m.kind, m.parts, m.in_reply_to, m.metadata';

const messageOf = (row: pg.QueryResultRow): Message => ({
  id: row.id,
  author: row.author,
  authorName: row.author_name,
  kind: row.kind,
  parts: row.parts,
  inReplyTo: row.in_reply_to,
  metadata: row.metadata,
});
