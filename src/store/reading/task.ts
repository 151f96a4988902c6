import type pg from 'pg';
import { type Connection, connectionOf, decodeCursor, encodeCursor, type Page, readPage } from '../../core/page.ts';
import type { DeadlinesView, DetailView, Reads, TaskFilter, TaskView } from '../../core/reads.ts';
import { isUuid } from '../../core/uuid.ts';
import type { Scope } from '../scope.ts';
import { batch } from './batch.ts';

type TaskReads = Pick<Reads, 'task' | 'taskByKey' | 'tasks' | 'detail' | 'deadlines' | 'charge' | 'queuePosition'>;

export const readTasksFor = (pool: pg.Pool, scope: Scope): TaskReads => ({
  async task(id) {
    if (!isUuid(id)) return undefined;
    const { rows } = await pool.query<TaskView>({
      name: `read task, ${scope.name}`,
      text: `select ${columns} from task t where t.id = $3 and ${scope.task}`,
      values: [...scope.values, id],
    });
    return rows[0];
  },

  taskByKey: batch(async (keys) => {
    const { rows } = await pool.query<TaskView>({
      name: `read tasks, ${scope.name}`,
      text: `select ${columns} from task t where t.key = any($3) and ${scope.task}`,
      values: [...scope.values, keys],
    });
    return rows.map((row) => [row.key, row]);
  }),

  async tasks(args, filter = {}, within = {}) {
    const page = readPage(args);
    const conditions = conditionsOf(scope, filter, within);
    const read = async (): Promise<Connection<TaskView>> => {
      const { where, values } = withCursors(conditions, page);
      const direction = page.isBackward ? 'asc' : 'desc';
      const { rows } = await pool.query<TaskView>(
        `select ${columns} from task t where ${where.join(' and ')}
          order by t.created_at ${direction}, t.key ${direction} limit ${page.limit + 1}`,
        values,
      );
      return connectionOf(rows, page, ({ createdAt, key }) => encodeCursor(createdAt.getTime(), key));
    };
    const { where, values } = conditions;
    return {
      ...(await read()),
      count: async () =>
        (await pool.query(`select count(*)::int as count from task t where ${where.join(' and ')}`, values)).rows[0]
          .count,
    };
  },

  detail: batch(async (keys) => {
    const { rows } = await pool.query({
      name: 'read details',
      text: 'select task_key, metadata, result, usage from task_detail where task_key = any($1)',
      values: [keys],
    });
    return rows.map(({ task_key, ...detail }): [string, DetailView] => [task_key, detail as DetailView]);
  }),

  deadlines: batch(async (keys) => {
    const { rows } = await pool.query({
      name: 'read deadlines',
      text: `select task_key, max(at) filter (where kind = 'TTL') as "expiresAt", max(at) filter (where kind = 'TURN') as "timeoutAt"
        from deadline where task_key = any($1) group by task_key`,
      values: [keys],
    });
    return rows.map(({ task_key, ...deadlines }): [string, DeadlinesView] => [task_key, deadlines as DeadlinesView]);
  }),

  charge: batch(async (keys) => {
    const { rows } = await pool.query({
      name: `read charges, ${scope.name}`,
      text: `select distinct on (c.task_key) c.task_key, c.amount::text, c.state, c.at
        from charge c join task t on t.key = c.task_key where c.task_key = any($3) and ${scope.money} order by c.task_key, c.run desc`,
      values: [...scope.values, keys],
    });
    return rows.map(({ task_key, amount, state, at }) => [task_key, { amount, state, at }]);
  }),

  queuePosition: batch(async (keys) => {
    const { rows } = await pool.query({
      name: 'read queue positions',
      text: `select t.key, (select count(*)::int from waiting w where w.agent_id = t.agent_id and w.context_key = t.context_key
          and (w.rank, w.task_key) <= (t.rank, t.key)) as position
        from task t where t.key = any($1) and t.delivery_state = 'QUEUED'`,
      values: [keys],
    });
    return rows.map(({ key, position }) => [key, position]);
  }),
});

const columns = `t.key, t.id, t.network_id as "networkId", t.context_key as "contextKey", t.user_id as "userId",
  t.requester_id as "requesterId", t.requester_is_agent as "requesterIsAgent", t.agent_id as "agentId", t.skill_id as "skillId",
  t.parent_key as "parentKey", t.root_key as "rootKey", t.depth, t.priority, t.state, t.reason, t.run, t.last_seq as seq,
  t.generation, t.delivery, t.delivery_state as "deliveryState", t.created_at as "createdAt", t.updated_at as "updatedAt",
  t.status_at as "statusAt", t.delivered_at as "deliveredAt", t.started_at as "startedAt", t.finished_at as "finishedAt"`;

type Conditions = { where: string[]; values: unknown[] };

const conditionsOf = (
  scope: Scope,
  filter: TaskFilter,
  within: NonNullable<Parameters<Reads['tasks']>[2]>,
): Conditions => {
  const where = [scope.task];
  const values: unknown[] = [...scope.values];
  const add = (value: unknown, condition: (parameter: string) => string): void => {
    if (value == null) return;
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  add(filter.states, (states) => `t.state = any(${states}::task_state[])`);
  add(filter.priority, (priority) => `t.priority = ${priority}`);
  add(filter.skill, (skill) => `t.skill_id = ${skill}`);
  add(filter.createdAfter, (at) => `t.created_at > ${at}`);
  add(filter.createdBefore, (at) => `t.created_at < ${at}`);
  add(filter.agent, (name) => `t.agent_id in (select id from agent where network_id = $1 and name = ${name})`);
  add(filter.contextId, (id) => `t.context_key in (select key from context where network_id = $1 and id = ${id})`);
  add(idOrNone(filter.userId), (id) => `t.user_id = ${id}`);
  add(idOrNone(filter.parentId), (id) => `t.parent_key in (select key from task where network_id = $1 and id = ${id})`);
  add(idOrNone(filter.rootId), (id) => `t.root_key in (select key from task where network_id = $1 and id = ${id})`);
  add(within.context, (key) => `t.context_key = ${key}`);
  add(within.agent, (id) => `t.agent_id = ${id}`);
  add(within.parent, (key) => `t.parent_key = ${key}`);
  return { where, values };
};

/** What is no id names nothing, rather than being an error of the database. */
const idOrNone = (id: string | null | undefined): string | null | undefined =>
  id == null || isUuid(id) ? id : '00000000-0000-0000-0000-000000000000';

const withCursors = ({ where, values }: Conditions, { after, before }: Page): Conditions => {
  const all = { where: [...where], values: [...values] };
  for (const [cursor, comparison] of [
    [after, '<'],
    [before, '>'],
  ] as const) {
    if (cursor === undefined) continue;
    const [atMs = 0, key = ''] = decodeCursor(cursor, ['time', 'uuid']);
    all.values.push(new Date(atMs), key);
    all.where.push(`(t.created_at, t.key) ${comparison} ($${all.values.length - 1}, $${all.values.length})`);
  }
  return all;
};
