import type pg from 'pg';
import type { Actor, Pass, UserActor } from '../core/actor.ts';
import { isSameHash } from '../core/api-key.ts';
import { isUuid } from '../core/uuid.ts';

/** Keys, tokens and users as the door reads them: one small statement each. */
export const createAuthenticationStore = (pool: pg.Pool) => {
  const findKeys = async (prefix: string) => {
    const { rows } = await pool.query({
      name: 'find keys',
      text: `select k.id as key_id, k.hash, k.scopes, ${userColumns}, k.last_used_at is null or k.last_used_at < now() - interval '1 minute' as is_stale
        from api_key k join "user" u on u.id = k.user_id where k.prefix = $1 and ${isOpen}`,
      values: [prefix],
    });
    return rows.map((row) => ({
      id: row.key_id as string,
      hash: row.hash as Uint8Array,
      actor: userActor(row),
      isStale: row.is_stale as boolean,
    }));
  };

  const findAgents = async (column: 'token_prefix' | 'id', value: string | string[]) => {
    const { rows } = await pool.query({
      name: `find agents by ${column}`,
      text: `select id, name, network_id, owner_id, token_hash from agent
        where ${column} = any($1) and removed_at is null and token_hash is not null`,
      values: [[value].flat()],
    });
    return rows.map(({ id, name, network_id, owner_id, token_hash }) => ({
      hash: token_hash as Uint8Array,
      actor: { kind: 'agent', id, name, network: network_id, owner: owner_id } satisfies Actor,
    }));
  };

  return {
    findKeys,
    findAgentTokens: (prefix: string) => findAgents('token_prefix', prefix),

    async markUsed(key: string): Promise<void> {
      await pool.query({
        name: 'mark used',
        text: 'update api_key set last_used_at = now() where id = $1',
        values: [key],
      });
    },

    async findUser(network: string, externalId: string): Promise<Actor | undefined> {
      if (!isUuid(network)) return undefined;
      const { rows } = await pool.query({
        name: 'find user',
        text: `select ${userColumns} from "user" u where u.network_id = $1 and u.external_id = $2`,
        values: [network, externalId],
      });
      return rows[0] && userActor(rows[0]);
    },

    async findEnded(passes: Pass[]): Promise<Pass[]> {
      const idsOf = (kind: Pass['credential']['kind']) =>
        passes.flatMap(({ credential, actor }) =>
          credential.kind === kind ? [credential.kind === 'key' ? credential.id : actor.id] : [],
        );
      const { rows } = await pool.query({
        name: 'find ended',
        text: `select k.id::text as holder, ${userColumns}, k.scopes from api_key k join "user" u on u.id = k.user_id where k.id = any($1) and ${isOpen}
          union all select u.id::text, ${userColumns}, '{}' from "user" u where u.id = any($2)`,
        values: [idsOf('key'), idsOf('jwt')],
      });
      const users = new Map(rows.map((row) => [row.holder, userActor(row)]));
      const agents = new Map((await findAgents('id', idsOf('agent'))).map((agent) => [agent.actor.id, agent]));
      return passes.filter(({ actor, credential }) => {
        if (credential.kind === 'agent') {
          const agent = agents.get(credential.id);
          return !agent || !isSameHash(agent.hash, credential.hash);
        }
        const now = users.get(credential.kind === 'key' ? credential.id : credential.user);
        const isOver = credential.kind === 'jwt' && credential.untilMs <= Date.now();
        return isOver || !now || !mayTheSame(now, actor);
      });
    },
  };
};

const mayTheSame = (now: UserActor, then: Actor): boolean =>
  then.kind === 'user' && (['role', 'status', 'isReadOnly'] as const).every((right) => now[right] === then[right]);

const userColumns = 'u.id, u.name, u.network_id, u.role, u.status';
const isOpen = 'k.revoked_at is null and (k.expires_at is null or k.expires_at > now())';

const userActor = (row: pg.QueryResultRow): UserActor => ({
  kind: 'user',
  id: row.id,
  name: row.name,
  network: row.network_id,
  role: row.role,
  status: row.status,
  isReadOnly: Boolean(row.scopes?.length) && !row.scopes.includes('write'),
});
