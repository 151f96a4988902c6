import type pg from 'pg';
import { connectionOf, readPage } from '../../core/page.ts';
import type { MessageView, Reads } from '../../core/reads.ts';
import type { Scope } from '../scope.ts';
import { batch, batchBy, groupBy } from './batch.ts';
import { seqCursor, seqsOf } from './seq-page.ts';

/** Messages of tasks that the caller has already been shown. */
export const readMessagesFor = (
  pool: pg.Pool,
  { values: [network] }: Scope,
): Pick<Reads, 'messages' | 'message' | 'statusMessage'> => {
  const ofTasks = batchBy(async (keys, { after, before, limit, isBackward }: ReturnType<typeof seqsOf>) => {
    const { rows } = await pool.query<MessageView & { taskKey: string }>({
      name: `read messages, ${isBackward ? 'last' : 'first'}`,
      text: `select m.task_key as "taskKey", ${columns} from unnest($1::uuid[]) wanted(task)
        cross join lateral (
          select * from message where task_key = wanted.task and seq > $2 and seq < $3 order by seq ${isBackward ? 'desc' : 'asc'} limit $4
        ) m order by m.task_key, m.seq ${isBackward ? 'desc' : 'asc'}`,
      values: [keys, after, before, limit + 1],
    });
    return groupBy(rows, ({ taskKey }) => taskKey);
  });
  return {
    async messages(task, args) {
      const page = readPage(args);
      return connectionOf<MessageView>((await ofTasks(task, seqsOf(page))) ?? [], page, seqCursor);
    },

    message: batch(async (ids) => {
      const { rows } = await pool.query<MessageView>({
        name: 'read messages by id',
        text: `select ${columns} from message m where m.network_id = $1 and m.id = any($2)`,
        values: [network, ids],
      });
      return rows.map((row) => [row.id, row]);
    }),

    statusMessage: batch(async (keys) => {
      const { rows } = await pool.query<MessageView & { taskKey: string }>({
        name: 'read status messages',
        text: `select m.task_key as "taskKey", ${columns} from unnest($1::uuid[]) wanted(task)
          cross join lateral (
            select payload -> -1 ->> 'messageId' as id from event where task_key = wanted.task and kind = 'STATUS' order by seq desc limit 1
          ) status join message m on m.network_id = $2 and m.id = status.id::uuid`,
        values: [keys, network],
      });
      return rows.map((row) => [row.taskKey, row]);
    }),
  };
};

const columns = `m.id, m.seq, m.author, m.author_name as "authorName", m.kind, m.parts, m.in_reply_to as "inReplyTo", m.metadata,
  m.created_at as "createdAt"`;
