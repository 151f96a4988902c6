import type pg from 'pg';
import type { EventLog, LogEnd, LoggedEvent } from '../core/watch.ts';

/** The log as watchers read it. */
export const createEventLog = (pool: pg.Pool): EventLog => ({
  async readEvents(task, after) {
    const { rows } = await pool.query({
      name: 'read events',
      text: readEvents,
      values: [task, after],
    });
    return rows.flatMap((row) => linesOf(row).filter(({ seq }) => seq > after));
  },

  async readEnds(tasks) {
    const { rows } = await pool.query({
      name: 'read ends',
      text: 'select key, last_seq, state from task where key = any($1)',
      values: [tasks],
    });
    return new Map(rows.map(({ key, last_seq, state }): [string, LogEnd] => [key, { seq: last_seq, state }]));
  },
});

/**
 * No more than a slow reader may hold: it is measured by what is stored, so that nothing is unpacked to be left out; what is
 * compressed counts eight times. At least one row comes.
 */
const readEvents = `
  select task_key, seq, first_seq, kind, "from", "to", actor, at, payload from (
    select e.*, sum(weight) over (order by seq) - weight as before from (
      select *, pg_column_size(payload) * case when pg_column_compression(payload) is null then 1 else 8 end as weight
      from event where task_key = $1 and seq > $2 order by seq limit 64
    ) e
  ) page where before < 524288 order by seq`;

/** A row may hold several lines: its key is the last one's seq. */
export const linesOf = ({
  task_key,
  kind,
  from,
  to,
  actor,
  first_seq,
  at,
  payload,
}: pg.QueryResultRow): LoggedEvent[] =>
  (payload as unknown[]).map(
    (each, index) =>
      ({
        task: task_key,
        kind,
        from,
        to,
        actor,
        seq: first_seq + index,
        atMs: at.getTime(),
        payload: each,
      }) as LoggedEvent,
  );
