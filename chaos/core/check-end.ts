import type { Reader } from '../patient-client.ts';
import { isTerminal } from './check-tasks.ts';
import type { Counters, Report } from './checker.ts';
import type { History } from './history.ts';

/** After the last task ended nothing waits, nothing holds a place, and nothing is due. */
export const checkEnd = async (
  client: Reader,
  history: History,
  report: Report,
  rollbacks: string[],
): Promise<Counters> => {
  for (const { key, state, holder } of history.values()) {
    if (!isTerminal(state)) report('not finished', `${key} is still ${state}`);
    if (isTerminal(state) && holder !== null) report('not finished', `${key} is ${state} and held by ${holder}`);
  }
  const lanes = await client.query(
    `select l.*, (select count(*)::int from waiting w where (w.agent_id, w.context_key) = (l.agent_id, l.context_key)) as really,
      (select task_key from waiting w where (w.agent_id, w.context_key) = (l.agent_id, l.context_key) order by rank, task_key limit 1) as first,
      (select format('%s, task is %s at delivery %s of agent %s, deadlines %s', l.running_delivery, t.state, t.delivery, t.agent_id,
        (select array_agg(d.kind || ' ' || d.number) from deadline d where d.task_key = t.key)) from task t where t.key = l.running) as by
      from lane l`,
  );
  for (const { agent_id, context_key, waiting, really, head, first, running, by } of lanes.rows) {
    const lane = `${agent_id}/${context_key}`;
    if (waiting !== really || head !== first)
      report('lane row', `${lane}: says ${waiting} from ${head}, has ${really}`);
    if (running) report('lane row', `${lane}: the place is still held by ${running}:${by}`);
  }
  const { rows: waiting } = await client.query(
    `select w.task_key, t.state, t.delivery_state from waiting w join task t on t.key = w.task_key where t.delivery_state <> 'QUEUED' or t.rank <> w.rank`,
  );
  for (const row of waiting) report('lane row', `${row.task_key} waits in line and is ${row.state}`);
  const { rows: due } = await client.query(
    `select d.task_key, d.kind, t.state from deadline d join task t on t.key = d.task_key where t.finished_at is not null`,
  );
  for (const { task_key, kind, state } of due) report('deadline', `${task_key} is ${state} and ${kind} is still set`);
  const { rows: held } = await client.query(
    `select task_key, number, state from delivery where holder is not null and state = 'ENDED'`,
  );
  for (const { task_key, number } of held) report('delivery chain', `${task_key}:${number} ended and is held`);
  const { rows } = await client.query('select deadlocks::int from pg_stat_database where datname = current_database()');
  // The statistics forget when the database crashes; who was rolled back does not.
  const deadlocks = Math.max(rows[0].deadlocks, rollbacks.filter((code) => code === '40P01').length);
  if (deadlocks > 0) report('deadlock', `${deadlocks} deadlocks`);
  return { deadlocks };
};
