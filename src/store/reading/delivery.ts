import type pg from 'pg';
import type { DeliveryView, Reads } from '../../core/reads.ts';
import { batchBy, groupBy } from './batch.ts';

export const readDeliveries = (pool: pg.Pool): Pick<Reads, 'deliveries'> => {
  const ofTasks = batchBy(async (keys, last: number) => {
    const { rows } = await pool.query<DeliveryView>({
      name: 'read deliveries',
      text: `select d.* from unnest($1::uuid[]) wanted(task)
        cross join lateral (
          select task_key as "taskKey", number, agent_id as "agentId", state, outcome, created_at as "createdAt",
            delivered_at as "deliveredAt", acked_at as "ackedAt", started_at as "startedAt", ended_at as "endedAt"
          from delivery where task_key = wanted.task order by number desc limit $2
        ) d order by d."taskKey", d.number`,
      values: [keys, last],
    });
    return groupBy(rows, ({ taskKey }) => taskKey);
  });
  return { deliveries: async (task, last) => (await ofTasks(task, last)) ?? [] };
};
