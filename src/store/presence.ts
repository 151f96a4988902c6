import pg from 'pg';
import { DomainError } from '../core/domain-error.ts';
import type { Presence } from '../core/presence.ts';
import { findTask } from './heads.ts';

/** Which agents are connected where. A row goes with its instance: whoever buries that instance removes it. */
export const createPresence = (pool: pg.Pool): Presence => ({
  async connect({ id, agent, instance, takesOver }) {
    const rows = takesOver
      ? await takeOver(pool, { id, agent, instance })
      : (await pool.query({ name: 'connect', text: connect, values: [id, agent, instance] }).catch(buried)).rowCount;
    if (rows !== 1) throw asleep();
  },

  async disconnect({ id, agent }) {
    await pool.query({
      name: 'disconnect',
      text: `with gone as (delete from connection where id = $1)
        update agent set last_seen_at = hub_now() where id = $2`,
      values: [id, agent],
    });
  },

  async sweep(instance, connections) {
    await pool.query({
      name: 'sweep connections',
      text: `with gone as (delete from connection where boot_id = $1 and id <> all($2) returning agent_id)
        update agent set last_seen_at = hub_now() where id in (select agent_id from gone)`,
      values: [instance, connections],
    });
  },

  async readReplaced(connections) {
    const { rows } = await pool.query({
      name: 'read replaced',
      text: `select known.id from unnest($1::uuid[]) known(id)
        where not exists (select from connection c where c.id = known.id)`,
      values: [connections],
    });
    return rows.map(({ id }) => id);
  },

  findTask: (agent, id) => findTask(pool, agent, id),

  async introduce(agent, card) {
    const { description, skills = [] } = card;
    await pool.query({
      name: 'introduce',
      text: `with told as (
          update agent set card = $2, description = coalesce($3, description), last_seen_at = hub_now() where id = $1
        )
        insert into skill (id, agent_id, skill_id, name, description, tags, examples)
          select gen_random_uuid(), $1, s.id, coalesce(s.name, s.id), coalesce(s.description, ''), coalesce(s.tags, '{}'), coalesce(s.examples, '{}')
          from json_to_recordset($4) s(id text, name text, description text, tags text[], examples text[]) order by s.id
        on conflict (agent_id, skill_id) do update set name = excluded.name, description = excluded.description,
          tags = excluded.tags, examples = excluded.examples`,
      values: [agent, JSON.stringify(card), description ?? null, JSON.stringify(skills)],
    });
  },
});

type NewConnection = { id: string; agent: string; instance: string };

const connect = `insert into connection (id, agent_id, boot_id) select $1, $2, boot_id from instance where boot_id = $3`;

/**
 * Several statements in one message: each sees what the lock waited for, so of two that take over at once one stays; and no
 * transaction waits for this process, however long it sleeps. Nobody is sent away for one that cannot stay.
 */
const takeOver = async (pool: pg.Pool, { id, agent, instance }: NewConnection): Promise<number | null | undefined> => {
  const [self, whose, boot] = [id, agent, instance].map(pg.escapeLiteral);
  const answers: unknown = await pool
    .query(
      `select from agent where id = ${whose} for no key update;
      insert into connection (id, agent_id, boot_id) select ${self}, ${whose}, boot_id from instance where boot_id = ${boot};
      delete from connection where agent_id = ${whose} and id <> ${self} and exists (select from connection where id = ${self})`,
    )
    .catch(buried);
  return Array.isArray(answers) ? (answers as pg.QueryResult[])[1]?.rowCount : 0;
};

/** The instance was overdue, and another one has buried it; the next patrol brings it back. */
const asleep = (): DomainError =>
  new DomainError('RATE_LIMITED', 'This hub was away and is coming back: connect again in a second');

/** Between the look at the instance and the row of the connection. */
const buried = (error: pg.DatabaseError): { rowCount: number } => {
  if (error.code !== '23503') throw error;
  return { rowCount: 0 };
};
