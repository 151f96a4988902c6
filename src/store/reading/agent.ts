import type pg from 'pg';
import { connectionOf, decodeCursor, encodeCursor, readPage } from '../../core/page.ts';
import type { AgentView, Reads, SkillView } from '../../core/reads.ts';
import type { Scope } from '../scope.ts';
import { batch, groupBy } from './batch.ts';

/** Agents are known to everybody in their network. */
export const readAgentsFor = (
  pool: pg.Pool,
  { values: [network] }: Scope,
): Pick<Reads, 'agent' | 'agentByName' | 'agents' | 'skills'> => {
  const skillsOf = batch(async (keys) => {
    const { rows } = await pool.query<SkillView & { agentId: string }>({
      name: 'read skills',
      text: `select agent_id as "agentId", id, skill_id as "skillId", name, description, tags, examples, price::text
        from skill where agent_id = any($1) order by agent_id, skill_id`,
      values: [keys],
    });
    return groupBy(rows, ({ agentId }) => agentId);
  });
  return {
    agent: batch(async (ids) => {
      const { rows } = await pool.query<AgentView>({
        name: 'read agents',
        text: `select ${columns} from agent a where a.network_id = $1 and a.id = any($2)`,
        values: [network, ids],
      });
      return rows.map((row) => [row.id, row]);
    }),

    async agentByName(name) {
      const { rows } = await pool.query<AgentView>({
        name: 'read agent',
        text: `select ${columns} from agent a where a.network_id = $1 and a.name = $2 and a.removed_at is null`,
        values: [network, name],
      });
      return rows[0];
    },

    /** By name. */
    async agents(args, filter) {
      const page = readPage(args);
      const [after, before] = [page.after, page.before].map((cursor) =>
        cursor === undefined ? null : decodeCursor(cursor, ['text'])[0],
      );
      const { rows } = await pool.query<AgentView>(
        `select * from (select ${columns} from agent a
          where a.network_id = $1 and a.removed_at is null and ($2::text is null or a.name > $2) and ($3::text is null or a.name < $3)
            and ($4::text is null or exists (select from skill s where s.agent_id = a.id and s.skill_id = $4))) a
          where $5::boolean is null or "isConnected" = $5
          order by name ${page.isBackward ? 'desc' : 'asc'} limit ${page.limit + 1}`,
        [network, after, before, filter?.skill ?? null, filter?.connected ?? null],
      );
      return connectionOf(rows, page, ({ name }) => encodeCursor(name));
    },

    skills: async (agent) => (await skillsOf(agent)) ?? [],
  };
};

const columns = `a.id, a.owner_id as "ownerId", a.name, a.description, a.url, a.mode, a.capacity, a.when_lost as "whenLost", a.card,
  a.created_at as "createdAt", a.removed_at as "removedAt", a.last_seen_at as "lastSeenAt",
  exists (select from connection c join instance i on i.boot_id = c.boot_id where c.agent_id = a.id and i.until > hub_now()) as "isConnected"`;
