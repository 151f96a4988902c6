import { randomUUID } from 'node:crypto';
import type { BenchDatabase } from './database.ts';

/** Rows that are there before the first round. */
export type Ground = { network: string; user: string; agent: string; contexts: string[] };

export const layGround = async ({ query }: Pick<BenchDatabase, 'query'>, contextCount: number): Promise<Ground> => {
  const [network, user, agent] = [randomUUID(), randomUUID(), randomUUID()];
  const contexts = Array.from({ length: contextCount }, () => randomUUID());
  await query('insert into network (id, name) values ($1, $2)', [network, 'bench']);
  await query('insert into "user" (id, network_id, name) values ($1, $2, $3)', [user, network, 'ada']);
  await query('insert into agent (id, network_id, owner_id, name) values ($1, $2, $3, $4)', [
    agent,
    network,
    user,
    'echo',
  ]);
  await query(
    'insert into context (key, network_id, owner_id, id) select key, $1, $2, key::text from unnest($3::uuid[]) key',
    [network, user, contexts],
  );
  return { network, user, agent, contexts };
};
