import type { BenchDatabase } from '../database.ts';
import type { Written } from './contender.ts';

// What was acknowledged is there, once and in order. A round of which this is not true has no number.

/** Undefined: all is well. */
export const findLoss = async (
  { query }: Pick<BenchDatabase, 'query'>,
  written: Written,
  isPlain: boolean,
): Promise<string | undefined> => {
  if (written.length === 0) return 'no task was written';
  const { rows } = await query(isPlain ? plainLosses : losses, [
    written.map(({ key }) => key),
    written.map(({ chunks }) => chunks),
  ]);
  return rows.length === 0
    ? undefined
    : `${rows.length} of ${written.length} tasks, such as ${JSON.stringify(rows[0])}`;
};

// A row holds the lines first_seq to seq; a chunk's text begins with its place in the stream.
const losses = `
  with wanted as materialized (select * from unnest($1::uuid[], $2::int[]) w(key, chunks)),
  rows as materialized (
    select e.task_key, e.seq, e.first_seq, e.kind, e.payload,
      lag(e.seq, 1, 0) over (partition by e.task_key order by e.seq) as seq_before
    from wanted w join event e on e.task_key = w.key
  ),
  logs as (
    select task_key, max(seq) as last_seq,
      bool_and(first_seq = seq_before + 1 and json_array_length(payload) = seq - first_seq + 1) as is_gapless
    from rows group by 1
  ),
  lines as (
    select task_key, left(line #>> '{parts,0,text}', 6)::int as place, row_number() over (partition by task_key order by seq, n) as n
    from rows cross join lateral json_array_elements(payload) with ordinality lines(line, n) where kind = 'ARTIFACT'
  ),
  streams as (select task_key, count(*) as chunks, bool_and(place = n) as is_in_order from lines group by 1)
  select w.key, w.chunks as acknowledged, s.chunks as stored, s.is_in_order, l.is_gapless, l.last_seq as last_event, t.last_seq, t.state
  from wanted w left join task t on t.key = w.key left join logs l on l.task_key = w.key left join streams s on s.task_key = w.key
  where (t.state = 'COMPLETED' and t.last_seq = l.last_seq and l.is_gapless and coalesce(s.chunks, 0) = w.chunks
    and coalesce(s.is_in_order, true)) is not true`;

const plainLosses = `
  select w.key, w.chunks as acknowledged, count(e.seq) as stored, max(e.seq) as last_seq
  from unnest($1::uuid[], $2::int[]) w(key, chunks) left join bench.event e on e.task_key = w.key
  group by 1, 2 having count(e.seq) <> w.chunks or coalesce(max(e.seq), 0) <> w.chunks`;
