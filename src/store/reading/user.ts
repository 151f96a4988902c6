import type pg from 'pg';
import { type Actor, hasRole } from '../../core/actor.ts';
import type { ApiKeyView, NetworkView, Reads, UserView } from '../../core/reads.ts';
import { batch } from './batch.ts';

type UserReads = Pick<Reads, 'user' | 'account' | 'apiKey' | 'network'>;

export const readUsersFor = (pool: pg.Pool, actor: Actor): UserReads => ({
  user: batch(async (ids) => {
    const { rows } = await pool.query<UserView>({
      name: 'read users',
      text: `select id, name, status, role, created_at as "createdAt" from "user" where network_id = $1 and id = any($2)`,
      values: [actor.network, ids],
    });
    return rows.map((row) => [row.id, row]);
  }),

  async account(user) {
    if (user !== actor.id && !hasRole(actor, 'ADMIN')) return undefined;
    const { rows } = await pool.query({
      name: 'read account',
      text: `select a.balance::text, a.held::text, (a.balance - a.held)::text as available
        from account a join "user" u on u.id = a.user_id where u.network_id = $1 and u.id = $2`,
      values: [actor.network, user],
    });
    return rows[0];
  },

  async apiKey(id) {
    const { rows } = await pool.query<ApiKeyView>({
      name: 'read key',
      text: `select k.id, k.name, k.prefix, k.scopes, k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt"
        from api_key k join "user" u on u.id = k.user_id where u.network_id = $1 and k.id = $2`,
      values: [actor.network, id],
    });
    return rows[0];
  },

  async network(id) {
    const { rows } = await pool.query<NetworkView>({
      name: 'read network',
      text: 'select id, name from network where id = $1',
      values: [id],
    });
    return rows[0];
  },
});
