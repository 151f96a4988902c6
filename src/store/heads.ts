import type pg from 'pg';
import type { Executor, LaneHead, LoadHead, TaskHead, Turn } from '../core/head.ts';
import { parseMicros } from '../core/money.ts';
import type { Bringing, LaneId } from '../core/ports.ts';

// Heads as the writer reads them: each kind with one statement, however many there are.

export const executorColumns =
  'a.mode, a.capacity, a.when_lost, a.max_attempts, a.grace_seconds, a.timeout_seconds as turn_seconds';

export const taskColumns = `
  t.key, t.id, t.network_id, t.context_key, t.root_key, t.priority, t.state, t.run, t.last_seq, t.generation, t.delivery,
  t.delivery_state, t.holder, t.last_n, t.rank, t.attempts, t.acknowledged, t.turn_seq, t.ttl_seconds, t.timeout_seconds, t.agent_id, t.agent_name,
  ${executorColumns},
  (select json_build_object('account', c.account_id, 'amount', c.amount::text) from charge c where c.task_key = t.key and c.state = 'HELD') as hold`;

export const readTasks = async (client: pg.ClientBase, keys: string[]): Promise<TaskHead[]> => {
  const { rows } = await client.query({
    name: 'read tasks',
    text: `select ${taskColumns}, said.texts from task t join agent a on a.id = t.agent_id
      left join lateral (
        select array_agg(line ->> 'text' order by e.seq, n) as texts
        from event e cross join lateral json_array_elements(e.payload) with ordinality lines(line, n)
        where t.state = 'WORKING' and e.task_key = t.key and e.seq > t.turn_seq and e.kind = 'STATUS' and e."to" = 'WORKING' and line ->> 'text' is not null
      ) said on true
      where t.key = any($1)`,
    values: [keys],
  });
  return rows.map(taskHead);
};

export const readLanes = async (client: pg.ClientBase, ids: LaneId[]): Promise<LaneHead[]> => {
  const { rows } = await client.query({
    name: 'read lanes',
    text: `select agent_id, context_key, version, running, running_delivery, head, waiting from lane
      where (agent_id, context_key) in (select * from unnest($1::uuid[], $2::uuid[]))`,
    values: [ids.map(({ agent }) => agent), ids.map(({ context }) => context)],
  });
  return rows.map((row) => ({
    agent: row.agent_id,
    context: row.context_key,
    version: Number(row.version),
    running: row.running && { task: row.running, delivery: row.running_delivery },
    first: row.head,
    waiting: row.waiting,
  }));
};

export const readLoads = async (client: pg.ClientBase, agents: string[]): Promise<LoadHead[]> => {
  const { rows } = await client.query({
    name: 'read loads',
    text: `select wanted.agent, coalesce(l.version, 0) as version,
        (select count(*)::int from lane where lane.agent_id = wanted.agent and lane.running is not null) as running
      from unnest($1::uuid[]) wanted(agent) left join agent_load l on l.agent_id = wanted.agent`,
    values: [agents],
  });
  return rows.map(({ agent, version, running }) => ({ agent, version: Number(version), running }));
};

export const readAvailable = async (client: pg.ClientBase, accounts: string[]): Promise<Map<string, bigint>> => {
  const { rows } = await client.query({
    name: 'read available',
    text: `select wanted.id, coalesce(a.balance - a.held, 0)::numeric(18, 6)::text as available
      from unnest($1::uuid[]) wanted(id) left join account a on a.id = wanted.id`,
    values: [accounts],
  });
  return new Map(rows.map(({ id, available }) => [id, parseMicros(available) ?? 0n]));
};

export const readRivals = async (client: pg.ClientBase, commands: Bringing[]): Promise<Map<string, TaskHead>> => {
  const ids = commands.flatMap((command) => [
    ...(command.message ? [{ id: command.message.id, task: command.task }] : []),
    ...(command.kind === 'create' ? [{ id: command.created.id, task: command.task }] : []),
  ]);
  const networks = commands.flatMap((command) => (command.kind === 'create' ? [command.created.network] : []));
  const { rows } = await client.query({
    name: 'read rivals',
    text: `select ${taskColumns}, null::text[] as texts, coalesce(m.id, t.id) as rival_id
      from task t join agent a on a.id = t.agent_id left join message m on m.task_key = t.key and m.id = any($1)
      where (t.id = any($1) and t.network_id = any($2))
        or t.key in (select task_key from message where id = any($1)
          and network_id in (select unnest($2::uuid[]) union select network_id from task where key = any($3)))`,
    values: [ids.map(({ id }) => id), networks, ids.map(({ task }) => task)],
  });
  return new Map(rows.map((row) => [row.rival_id, taskHead(row)]));
};

export const executorOf = (row: pg.QueryResultRow): Executor => ({
  id: row.agent_id,
  name: row.agent_name,
  isAsync: row.mode === 'ASYNC',
  whenLost: row.when_lost,
  maxAttempts: row.max_attempts ?? 3,
  graceSeconds: row.grace_seconds ?? 30,
  turnSeconds: row.turn_seconds ?? 1_800,
  capacity: row.capacity,
});

/** A task of an agent by its public id, without what was said in its turn; and whether the connection that holds it lives. */
export const findTask = async (
  pool: pg.Pool,
  agent: string,
  id: string,
): Promise<{ head: TaskHead; isHeldAlive: boolean } | undefined> => {
  const { rows } = await pool.query({
    name: 'find task',
    text: `select ${taskColumns}, null::text[] as texts,
        exists (select from connection c join instance i using (boot_id) where c.id = t.holder and i.until >= hub_now()) as is_held_alive
      from agent a join task t on t.network_id = a.network_id and t.agent_id = a.id
      where a.id = $1 and t.id = $2`,
    values: [agent, id],
  });
  return rows[0] && { head: taskHead(rows[0]), isHeldAlive: rows[0].is_held_alive };
};

export const taskHead = (row: pg.QueryResultRow): TaskHead => ({
  key: row.key,
  id: row.id,
  network: row.network_id,
  context: row.context_key,
  root: row.root_key,
  executor: executorOf(row),
  priority: row.priority,
  state: row.state,
  run: row.run,
  seq: row.last_seq,
  generation: row.generation,
  delivery: row.delivery,
  deliveryState: row.delivery_state,
  holder: row.holder,
  lastN: row.last_n,
  rank: Number(row.rank),
  attempts: row.attempts,
  isAcknowledged: row.acknowledged,
  ttlSeconds: row.ttl_seconds,
  timeoutSeconds: row.timeout_seconds,
  turnSeq: row.turn_seq,
  turn: ((row.texts ?? []) as string[]).reduce<Turn>((before, text) => ({ text, before }), null),
  hold: row.hold && { account: row.hold.account, micros: parseMicros(row.hold.amount) ?? 0n },
});
