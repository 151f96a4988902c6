import type pg from 'pg';
import { connectionOf, decodeCursor, encodeCursor, readPage } from '../../core/page.ts';
import type { ContextView, Reads } from '../../core/reads.ts';
import { isUuid } from '../../core/uuid.ts';
import type { Scope } from '../scope.ts';
import { batch } from './batch.ts';

export const readContextsFor = (pool: pg.Pool, scope: Scope): Pick<Reads, 'context' | 'contextById' | 'contexts'> => ({
  context: batch(async (keys) => {
    const { rows } = await pool.query<ContextView>({
      name: 'read contexts',
      text: `select ${columns} from context c where c.key = any($1)`,
      values: [keys],
    });
    return rows.map((row) => [row.key, row]);
  }),

  /** The caller's own first; admins and agents see others' too. */
  async contextById(id, user) {
    if (user != null && !isUuid(user)) return undefined;
    const { rows } = await pool.query<ContextView>({
      name: `read context, ${scope.name}`,
      text: `select ${columns} from context c where c.id = $3 and ($4::uuid is null or c.owner_id = $4) and ${scope.context}
        order by c.owner_id = $2 desc, c.created_at limit 1`,
      values: [...scope.values, id, user ?? null],
    });
    return rows[0];
  },

  /** Newest first. */
  async contexts(args, search) {
    const page = readPage(args);
    const values: unknown[] = [...scope.values];
    const where = [scope.context];
    for (const [cursor, comparison] of [
      [page.after, '<'],
      [page.before, '>'],
    ] as const) {
      if (cursor === undefined) continue;
      const [atMs = 0, key = ''] = decodeCursor(cursor, ['time', 'uuid']);
      values.push(new Date(atMs), key);
      where.push(`(c.created_at, c.key) ${comparison} ($${values.length - 1}, $${values.length})`);
    }
    if (search) {
      values.push(`%${search.replace(/[\\%_]/g, '\\$&')}%`);
      where.push(`(c.title ilike $${values.length} or c.id ilike $${values.length})`);
    }
    const direction = page.isBackward ? 'asc' : 'desc';
    const { rows } = await pool.query<ContextView>(
      `select ${columns} from context c where ${where.join(' and ')} order by c.created_at ${direction}, c.key ${direction} limit ${page.limit + 1}`,
      values,
    );
    return connectionOf(rows, page, ({ createdAt, key }) => encodeCursor(createdAt.getTime(), key));
  },
});

const columns = 'c.key, c.id, c.title, c.created_at as "createdAt", c.updated_at as "updatedAt"';
