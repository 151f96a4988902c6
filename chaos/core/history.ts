import type { Reader } from '../patient-client.ts';

// The final tables, one task at a time, each line with the transaction that wrote it and the moment that one committed.

export type Event = {
  seq: number;
  kind: string;
  from: string | null;
  to: string | null;
  actor: string;
  atMs: number;
  payload: {
    number?: number;
    outcome?: string;
    detail?: string;
    reason?: string;
    text?: string;
    parts?: { text?: string }[];
    append?: boolean;
    lastChunk?: boolean;
    messageId?: string;
    artifactId?: string;
    message?: { id: string; author: string; kind: string; parts: { text?: string }[] };
  };
  xid: number;
  committedMs: number;
};

type Delivery = { number: number; agent: string; state: string; outcome: string | null; holder: string | null };

export type Task = {
  key: string;
  /** As its requester and its agent know it. */
  id: string;
  network: string;
  agent: string;
  context: string;
  state: string;
  run: number;
  lastSeq: number;
  delivery: number;
  deliveryState: string;
  holder: string | null;
  events: Event[];
  deliveries: Map<number, Delivery>;
  artifact: { size: number; lastSeq: number; complete: boolean } | undefined;
};

export type History = Map<string, Task>;

export const readHistory = async (client: Reader): Promise<History> => {
  const history: History = new Map();
  const tasks = await client.query(
    'select key, id, network_id, agent_name, context_key, state, run, last_seq, delivery, delivery_state, holder from task order by created_at, key',
  );
  for (const row of tasks.rows)
    history.set(row.key, {
      key: row.key,
      id: row.id,
      network: row.network_id,
      agent: row.agent_name,
      context: row.context_key,
      state: row.state,
      run: row.run,
      lastSeq: row.last_seq,
      delivery: row.delivery,
      deliveryState: row.delivery_state,
      holder: row.holder,
      events: [],
      deliveries: new Map(),
      artifact: undefined,
    });

  const deliveries = await client.query('select task_key, number, agent_id, state, outcome, holder from delivery');
  for (const { task_key, agent_id, ...row } of deliveries.rows)
    history.get(task_key)?.deliveries.set(row.number, { ...row, agent: agent_id });

  const artifacts = await client.query(
    `select task_key, size, last_seq as "lastSeq", complete from artifact where artifact_id = 'out'`,
  );
  for (const { task_key, ...row } of artifacts.rows) {
    const task = history.get(task_key);
    if (task) task.artifact = row;
  }

  const events = await client.query(
    `select e.task_key, e.first_seq + n::int - 1 as seq, e.kind, e."from", e."to", e.actor,
        (extract(epoch from e.at) * 1000)::float8 as "atMs", line as payload, f.xid::float8 as xid,
        (extract(epoch from pg_xact_commit_timestamp(f.xid::text::xid)) * 1000)::float8 as "committedMs"
      from event e cross join lateral json_array_elements(e.payload) with ordinality lines(line, n)
      left join feed f on f.task_key = e.task_key and e.seq between f.from_seq and f.to_seq
      order by e.task_key, 2`,
  );
  for (const { task_key, ...row } of events.rows) history.get(task_key)?.events.push(row);
  return history;
};
