import type { BenchDatabase } from '../database.ts';
import type { Written } from '../load/told.ts';
import { findLoss } from '../writer/check.ts';

type Rows = Pick<BenchDatabase, 'query'>;

/** What subscribers were sent is in the hub's tables, once and in order. Undefined: all is well. */
export const findHubLoss = (rows: Rows, written: Written): Promise<string | undefined> =>
  findLoss(rows, written, false);

/** The same in the one table of the A2A SDK. */
export const findA2aLoss = async ({ query }: Rows, written: Written): Promise<string | undefined> => {
  if (written.length === 0) return 'no task was written';
  const { rows } = await query(a2aLosses, [written.map(({ key }) => key), written.map(({ chunks }) => chunks)]);
  return rows.length === 0
    ? undefined
    : `${rows.length} of ${written.length} tasks, such as ${JSON.stringify(rows[0])}`;
};

const a2aLosses = `
  with wanted as (select * from unnest($1::text[], $2::int[]) w(key, chunks)),
  lines as (
    select w.key, left(part ->> 'text', 6)::int as place, n
    from wanted w join tasks t on t.id = w.key
      cross join lateral json_array_elements(t.artifacts::json -> 0 -> 'parts') with ordinality parts(part, n)
  ),
  streams as (select key, count(*) as chunks, bool_and(place = n) as is_in_order from lines group by 1)
  select w.key, w.chunks as acknowledged, s.chunks as stored, s.is_in_order, t.status_state
  from wanted w left join tasks t on t.id = w.key left join streams s on s.key = w.key
  where (t.status_state = 'TASK_STATE_COMPLETED' and s.chunks = w.chunks and s.is_in_order) is not true`;

/** How many flushes the tasks took: each is one commit. */
export const countFlushes = async ({ query }: Rows, written: Written): Promise<number> => {
  const { rows } = await query(
    'select count(distinct flush)::int as flushes from feed where task_key = any($1::uuid[])',
    [written.map(({ key }) => key)],
  );
  return rows[0].flushes;
};
