import type pg from 'pg';
import type { QueueStore } from '../core/dispatcher.ts';
import { readAssignments } from './assignment.ts';

/** Lanes, deadlines and leases as the dispatcher reads them: few blocks, however long the lines are. */
export const createQueueStore = (pool: pg.Pool): QueueStore => ({
  async readReady(agents, limit) {
    const { rows } = await pool.query({ name: 'read ready', text: readReady, values: [agents, limit] });
    return rows.map(({ agent_id, head }) => ({ agent: agent_id, task: head }));
  },

  readAssignments: (tasks) => readAssignments(pool, tasks),

  async readDue(limit) {
    const { rows } = await pool.query({
      name: 'read due',
      text: `select due.task_key, due.kind, due.number, d.agent_id
        from (select task_key, kind, number, at from deadline where at <= hub_now() order by at limit $1) due
        left join delivery d using (task_key, number) order by due.at`,
      values: [limit],
    });
    return rows.map(({ task_key, kind, number, agent_id }) => ({
      task: task_key,
      kind,
      delivery: number,
      agent: agent_id,
    }));
  },

  async renew(instance, seconds) {
    const { rows } = await pool.query({
      name: 'renew instance',
      text: `with renewed as (
          insert into instance (boot_id, until) values ($1, hub_now() + make_interval(secs => $2))
          on conflict (boot_id) do update set until = excluded.until
        ) select count(*)::int as others from instance where boot_id <> $1 and until > hub_now()`,
      values: [instance, seconds],
    });
    return rows[0].others;
  },

  async readOrphans(limit) {
    const { rows } = await pool.query({
      name: 'read orphans',
      text: `select d.task_key, d.number, d.holder from delivery d left join instance i on i.boot_id = d.instance
        where d.instance is not null and d.holder is not null and (i.until is null or i.until < hub_now()) limit $1`,
      values: [limit],
    });
    return rows.map(({ task_key, number, holder }) => ({ task: task_key, delivery: number, holder }));
  },

  async buryInstances() {
    await pool.query(
      'delete from instance i where until < hub_now() and not exists (select from delivery d where d.instance = i.boot_id and d.holder is not null)',
    );
  },
});

/** Of an agent with a capacity, no more than it has room for. */
const readReady = `
  select ready.agent_id, ready.head from unnest($1::uuid[]) wanted(agent)
  join agent on agent.id = wanted.agent
  cross join lateral (
    select case when agent.capacity is null then $2::bigint else greatest(agent.capacity - count(*), 0) end as places
    from (select from lane where agent.capacity is not null and agent_id = wanted.agent and running is not null) working
  ) room
  cross join lateral (
    select agent_id, head, head_rank from lane where agent_id = wanted.agent and running is null and head is not null
    order by head_rank limit least($2, room.places)
  ) ready order by ready.head_rank limit $2`;
