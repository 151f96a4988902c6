import { createHash } from 'node:crypto';
import type { House } from './doors.ts';

// All that the database holds of one network.

type Querying = Pick<House, 'query'>;

/** Tables without anything of a network's own. */
const shared = new Set(['_prisma_migrations', 'instance']);

const ownership: [column: string, condition: string][] = [
  ['network_id', 'network_id = $1'],
  ['task_key', 'task_key in (select key from task where network_id = $1)'],
  ['agent_id', 'agent_id in (select id from agent where network_id = $1)'],
  ['user_id', 'user_id in (select id from "user" where network_id = $1)'],
];

const readNetwork = async ({ query }: Querying, network: string): Promise<Map<string, string[]>> => {
  const { rows: tables } = await query(
    `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
      where table_schema = 'public' and table_name in (select tablename from pg_tables where schemaname = 'public')
      group by table_name order by table_name`,
  );
  const found = new Map<string, string[]>();
  for (const { name, columns } of tables as { name: string; columns: string[] }[]) {
    if (shared.has(name)) continue;
    const condition = name === 'network' ? 'id = $1' : ownership.find(([column]) => columns.includes(column))?.[1];
    if (!condition) throw new Error(`Whose are the rows of the table ${name}? Say it in test/support/network-rows.ts`);
    const { rows } = await query(`select t::text as line from "${name}" t where ${condition} order by 1`, [network]);
    found.set(
      name,
      rows.map(({ line }) => line as string),
    );
  }
  return found;
};

/** By table, so that a difference says where. */
export const hashNetwork = async (house: Querying, network: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    [...(await readNetwork(house, network))].map(([table, lines]) => [
      table,
      `${lines.length} ${createHash('sha256').update(lines.join('\n')).digest('hex')}`,
    ]),
  );

/** Every id of the network: whoever is told one of them was told too much. */
export const idsOfNetwork = async (house: Querying, network: string): Promise<Set<string>> => {
  const text = [...(await readNetwork(house, network)).values()].flat().join('\n');
  return new Set(text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g));
};
