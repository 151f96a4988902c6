import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Ground } from '../ground.ts';
import type { Contender } from './contender.ts';
import { createStreaming } from './stream.ts';

/** By hand, without group commit: one prepared statement for each command, into the same tables, over a pool of ten. */
export const openStatement = (url: string, { network, user, agent, contexts }: Ground): Contender => {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on('error', () => undefined); // the statement under way tells it
  let commits = 0;
  const run = async (query: { name: string; text: string }, values: unknown[]): Promise<void> => {
    const { rowCount } = await pool.query({ ...query, values });
    if (rowCount === 0) throw new Error(`${query.name} wrote nothing`);
    commits += 1;
  };

  return createStreaming({
    slots: contexts.length,
    window: 1, // chunks of one task on two connections would lose their order
    isCutShort: true,
    async begin(slot) {
      const key = randomUUID();
      await run(create, [key, network, contexts[slot], user, agent, randomUUID()]);
      return key;
    },
    chunk: (key, _, text) =>
      run(append, [key, JSON.stringify([{ artifactId: 'a', parts: [{ text }], append: true, lastChunk: false }])]),
    complete: (key) => run(complete, [key]),
    counters: () => ({ commits, missedGroups: 0 }),
    close: () => pool.end(),
  });
};

const create = {
  name: 'create',
  text: `with born as (
      insert into task (key, network_id, id, context_key, user_id, requester_id, requester_is_agent, requester_name, agent_id, agent_name,
        root_key, priority, state, run, last_seq, generation, delivery, delivery_state, last_n, rank, attempts, turn_seq,
        created_at, updated_at, status_at, started_at)
      values ($1, $2, $1, $3, $4, $4, false, 'ada', $5, 'echo', $1, 'NORMAL', 'WORKING', 1, 3, 1, 1, 'WORKING', 0, 0, 1, 0,
        now(), now(), now(), now()) returning key
    ), detailed as (
      insert into task_detail (task_key, metadata) select key, '{}' from born
    ), said as (
      insert into message (task_key, seq, network_id, id, author, author_name, kind, parts, metadata, created_at)
      select key, 2, $2, $6, 'USER', 'ada', 'TASK', '[{"text":"hello"}]', '{}', now() from born
    )
    insert into event (task_key, seq, first_seq, kind, "from", "to", actor, at, payload)
    select key, seq, seq, kind::event_kind, "from", "to", 'ada', now(), '[{}]'
    from born, (values (1, 'STATUS', null, 'SUBMITTED'), (2, 'MESSAGE', null, null), (3, 'STATUS', 'SUBMITTED', 'WORKING'))
      line(seq, kind, "from", "to")`,
};

const append = {
  name: 'append',
  text: `with touched as (
      update task set last_seq = last_seq + 1, updated_at = now() where key = $1 returning key, last_seq
    )
    insert into event (task_key, seq, first_seq, kind, actor, at, payload)
    select key, last_seq, last_seq, 'ARTIFACT', 'echo', now(), $2 from touched`,
};

const complete = {
  name: 'complete',
  text: `with touched as (
      update task set last_seq = last_seq + 1, state = 'COMPLETED', delivery_state = 'ENDED', updated_at = now(), status_at = now(),
        finished_at = now() where key = $1 returning key, last_seq
    )
    insert into event (task_key, seq, first_seq, kind, "from", "to", actor, at, payload)
    select key, last_seq, last_seq, 'STATUS', 'WORKING', 'COMPLETED', 'echo', now(), '[{}]' from touched`,
};
