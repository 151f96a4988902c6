import type pg from 'pg';
import { connectionOf, readPage } from '../../core/page.ts';
import type { EventView, Reads } from '../../core/reads.ts';
import { linesOf } from '../event-log.ts';
import { batchBy, groupBy } from './batch.ts';
import { seqCursor, seqsOf } from './seq-page.ts';

/** A row of the log may hold several lines, so there are never fewer lines than rows. */
export const readEvents = (pool: pg.Pool): Pick<Reads, 'events'> => {
  const ofTasks = batchBy(async (keys, { after, before, limit, isBackward }: ReturnType<typeof seqsOf>) => {
    const { rows } = await pool.query({
      name: `read event rows, ${isBackward ? 'last' : 'first'}`,
      text: `select e.* from unnest($1::uuid[]) wanted(task)
        cross join lateral (
          select task_key, seq, first_seq, kind, "from", "to", actor, at, payload from event
          where task_key = wanted.task and seq > $2 and first_seq < $3 order by seq ${isBackward ? 'desc' : 'asc'} limit $4
        ) e order by e.task_key, e.seq ${isBackward ? 'desc' : 'asc'}`,
      values: [keys, after, before, limit + 1],
    });
    const lines = rows.flatMap((row) => {
      const all = linesOf(row).filter(({ seq }) => seq > after && seq < before);
      return isBackward ? all.reverse() : all;
    });
    return groupBy(lines, ({ task }) => task);
  });
  return {
    async events(task, args) {
      const page = readPage(args);
      return connectionOf<EventView>((await ofTasks(task, seqsOf(page))) ?? [], page, seqCursor);
    },
  };
};
