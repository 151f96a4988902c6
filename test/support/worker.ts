import { type AgentClient, openSocket } from './agent-client.ts';

// An agent that works over the hub's socket, for tests of a whole hub.

export type Worker = AgentClient & { registered: Record<string, unknown> };

export const connectWorker = async (
  url: string,
  { name, token }: { name: string; token: string },
  params: object = {},
): Promise<Worker> => {
  const client = await openSocket(`${url.replace(/^http/, 'ws')}/hub`, token);
  await client.nextOf('connection.established');
  const { result, error } = await client.request('agent.register', { agent_name: name, ...params });
  if (!result?.registered) throw new Error(`Not registered: ${JSON.stringify(result ?? error)}`);
  return { ...client, registered: result };
};

export type Taken = { task_id: string; delivery: number };

/** The next hand-over, acknowledged; with an id: it must be that task's. */
export const takeTask = async (worker: AgentClient, expected?: string): Promise<Taken> => {
  const { id, params } = await worker.nextOf('task.execute');
  if (expected !== undefined && params.task_id !== expected) throw new Error(`Got ${params.task_id}, not ${expected}`);
  worker.answer(id);
  return { task_id: String(params.task_id), delivery: Number(params.delivery) };
};

export const chunk = (taken: Taken, text: string, n?: number) => ({
  ...taken,
  ...(n !== undefined && { n }),
  artifact: { artifact_id: 'a', parts: [{ type: 'text', text }] },
  append: true,
});

export const completed = (taken: Taken, n?: number) => ({
  ...taken,
  ...(n !== undefined && { n }),
  status: { state: 'completed' },
  final: true,
});
