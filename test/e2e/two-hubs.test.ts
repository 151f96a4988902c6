import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Caller, createCaller } from '../support/caller.ts';
import { useDatabase } from '../support/database.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { subscribe, transports } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { chunk, completed, connectWorker, type Taken, takeTask, type Worker } from '../support/worker.ts';

// Two processes on one database: what one of them does, the other knows.

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe.each(['on', 'off'])('with wake-ups %s', (wakeUps) => {
  const database = useDatabase();
  const key = `test-key-${randomUUID()}`;
  const openHub = async (): Promise<Hub & Caller> => {
    const env = { DATABASE_URL: database.url, BATON_ADMIN_KEY: key, BATON_WAKE_UPS: wakeUps };
    const hub = await startHub({ env });
    return { ...hub, ...createCaller(hub.url, key) };
  };
  const twoHubs = async () => {
    const [a, b] = await Promise.all([openHub(), openHub()]);
    return { a, b };
  };
  const sendTo = async (hub: Caller, agent: { name: string }): Promise<string> =>
    (await hub.send({ agent: agent.name, text: 'write' })).id;
  const isConnected = async (hub: Caller, name: string): Promise<boolean> =>
    (await hub.get('query($name: String!) { agent(name: $name) { connected } }', { name })).connected;

  test('a task sent to one reaches the agent at the other, and its events the subscribers at both', async () => {
    const { a, b } = await twoHubs();
    const agent = await a.registerAgent();
    expect([await isConnected(a, agent.name), await isConnected(b, agent.name)]).toEqual([false, false]);
    const worker = await connectWorker(b.url, agent);
    expect([await isConnected(a, agent.name), await isConnected(b, agent.name)]).toEqual([true, true]);
    const taskId = await sendTo(a, agent);
    const streams = [a, b].flatMap(({ url }) =>
      transports.map((each) =>
        subscribe(each, { url, key, taskId, fields: 'seq ... on ArtifactEvent { parts { text } }' }),
      ),
    );
    const taken = await takeTask(worker, taskId);
    for (const round of numbers(0, 9)) {
      const texts = numbers(1, 100).map((n) => `${100 * round + n}`);
      await Promise.all(texts.map((text) => worker.request('task.artifact', chunk(taken, text))));
    }
    await Promise.all(streams.map((each) => each.first(1_000))); // while it is in work
    await worker.request('task.complete', completed(taken));
    const { rows } = await database.query('select last_seq from task where id = $1', [taskId]);
    for (const { ended, events } of streams) {
      expect(await ended).toEqual({ how: 'completed' });
      expect(events.map(({ seq }) => seq)).toEqual(numbers(1, rows[0].last_seq));
      const texts = events.flatMap(({ parts }) => ((parts ?? []) as { text: string }[]).map(({ text }) => text));
      expect(texts).toEqual(numbers(1, 1_000).map(String));
    }
    worker.socket.terminate();
    await until(
      async () => !(await isConnected(a, agent.name)) && !(await isConnected(b, agent.name)),
      'it to be gone',
    );
  }, 120_000);

  test('who cancels at one is told that the agent at the other has stopped', async () => {
    const { a, b } = await twoHubs();
    const agent = await a.registerAgent();
    const worker = await connectWorker(b.url, agent);
    const taskId = await sendTo(a, agent);
    await worker.request('task.artifact', chunk(await takeTask(worker, taskId), 'half'));
    const canceled = a.get(
      'mutation($id: ID!) { cancelTask(id: $id, reason: "enough") { task { state } confirmed outstanding } }',
      { id: taskId },
    );
    const { id, params } = await worker.nextOf('task.cancel');
    expect(params).toEqual({ task_id: taskId, delivery: 1, reason: 'REQUESTED', text: 'enough' });
    worker.answer(id);
    expect(await canceled).toEqual({ task: { state: 'CANCELED' }, confirmed: [taskId], outstanding: [] });
  }, 120_000);

  test('an agent that is connected to both shares its work', async () => {
    const { a, b } = await twoHubs();
    const agent = await a.registerAgent();
    const workers = await Promise.all([a, b].map(({ url }) => connectWorker(url, agent, { capacity: 4 })));
    const got = new Map<string, Worker[]>();
    const work = async (worker: Worker): Promise<void> => {
      for (;;) {
        const taken: Taken = await takeTask(worker);
        got.set(taken.task_id, [...(got.get(taken.task_id) ?? []), worker]);
        // Everybody has their hands full before the first one is done.
        if (got.size >= 8) for (const finish of finishing.splice(0)) finish();
        else await new Promise<void>((resolve) => finishing.push(resolve));
        void worker.request('task.complete', completed(taken)).catch(() => undefined);
      }
    };
    const finishing: (() => void)[] = [];
    for (const worker of workers) for (const _ of numbers(1, 4)) void work(worker).catch(() => undefined);
    const ids = await Promise.all(numbers(1, 40).map((n) => sendTo(n % 2 === 0 ? a : b, agent)));
    const isOver = async () =>
      (await database.query("select from task where id = any($1) and state = 'COMPLETED'", [ids])).rowCount === 40;
    await until(isOver, 'all to be done');
    expect([...got.keys()].sort()).toEqual([...ids].sort());
    for (const takers of got.values()) expect(takers).toHaveLength(1);
    for (const worker of workers)
      expect([...got.values()].filter(([taker]) => taker === worker).length).toBeGreaterThanOrEqual(4);
  }, 120_000);

  test('what a hub held that was killed is handed on by the other', async () => {
    const { a, b } = await twoHubs();
    const patient = await a.registerAgent({ graceSeconds: 1, whenLost: 'REQUEUE' });
    const failing = await a.registerAgent({ graceSeconds: 0, whenLost: 'FAIL' });
    const [first, second] = [await connectWorker(a.url, patient), await connectWorker(a.url, failing)];
    const ids = await Promise.all(numbers(1, 5).map(() => sendTo(b, patient)));
    for (const _ of ids) await first.request('task.artifact', chunk(await takeTask(first), 'begun'));
    const failingId = await sendTo(b, failing);
    await second.request('task.artifact', chunk(await takeTask(second, failingId), 'begun'));
    const unread = await sendTo(b, patient);
    await first.nextOf('task.execute'); // and no answer
    const streams = transports.map((each) => subscribe(each, { url: b.url, key, taskId: ids[0] ?? '' }));
    const heir = await connectWorker(b.url, patient, { capacity: 1 });
    a.kill('SIGKILL');
    await Promise.all([a.ended, first.closed, second.closed]);
    const handedOn = new Set<string>();
    for (const _ of [...ids, unread]) {
      const taken = await takeTask(heir); // after lease and grace
      expect(taken.delivery).toBe(2);
      handedOn.add(taken.task_id);
      await heir.request('task.complete', completed(taken));
    }
    expect(handedOn).toEqual(new Set([...ids, unread]));
    await until(async () => (await b.task(failingId)).state === 'FAILED', 'the loss');
    expect(await b.task(failingId)).toMatchObject({ reason: 'AGENT_LOST', delivery: { outcome: 'LOST' } });
    const { rows } = await database.query('select last_seq from task where id = $1', [ids[0]]);
    for (const { ended, events } of streams) {
      expect(await ended).toEqual({ how: 'completed' });
      expect(events.map(({ seq }) => seq)).toEqual(numbers(1, rows[0].last_seq));
    }
    await until(
      async () => (await database.query('select from instance')).rowCount === 1,
      'the dead instance to be buried',
    );
  }, 120_000);
});
