import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { AgentClient } from '../support/agent-client.ts';
import { type Caller, createCaller } from '../support/caller.ts';
import { useDatabase } from '../support/database.ts';
import { type Follower, follow } from '../support/follower.ts';
import { freePort } from '../support/free-port.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { transports } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { chunk, completed, connectWorker, type Taken, takeTask } from '../support/worker.ts';

const database = useDatabase();
const key = `test-key-${randomUUID()}`;
const fields = 'seq ... on ArtifactEvent { parts { text } } ... on StatusEvent { to }';

/** A hub that comes back at the same address. */
const openHouse = async () => {
  const port = await freePort();
  const env = { DATABASE_URL: database.url, BATON_ADMIN_KEY: key, PORT: String(port) };
  const url = `http://127.0.0.1:${port}`;
  let hub: Hub;
  const start = async (): Promise<Hub> => {
    hub = await startHub({ env });
    return hub;
  };
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const urlOf = async (): Promise<string> => {
    await until(isUp, 'the hub to be back');
    return url;
  };
  return { url, urlOf, start, caller: createCaller(url, key), first: await start() };
};

const textsOf = ({ seen }: Follower): string[] =>
  seen.flatMap(({ parts }) => ((parts ?? []) as { text: string }[]).map(({ text }) => text));
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const lastSeqOf = async (taskId: string): Promise<number> =>
  (await database.query('select last_seq from task where id = $1', [taskId])).rows[0].last_seq;

const sendTask = async ({ send }: Caller, agent: { name: string }): Promise<string> =>
  (await send({ agent: agent.name, text: 'write' })).id;

/** Sends chunk after chunk until its socket closes; returns how many were sent. */
const stream = async (worker: AgentClient, taken: Taken, from: number): Promise<number> => {
  let isOpen = true;
  void worker.closed.then(() => {
    isOpen = false;
  });
  let n = from;
  for (; isOpen; n++) {
    worker.notify('task.artifact', chunk(taken, `${n}`, n));
    if (n % 20 === 0) await Promise.race([worker.settled().catch(() => undefined), worker.closed]);
  }
  return n - 1;
};

test('after SIGKILL in mid-stream agent and clients come back, and every client has every event once', async () => {
  const { url, urlOf, start, caller, first } = await openHouse();
  const agent = await caller.registerAgent();
  const taskId = await sendTask(caller, agent);
  const followers = [...transports, ...transports].map((each) => follow(each, { urlOf, key, taskId, fields }));
  let worker = await connectWorker(url, agent);
  const taken = await takeTask(worker, taskId);
  let hub = first;
  let n = 0;
  for (const round of numbers(1, 3)) {
    const streaming = stream(worker, taken, n + 1);
    await Promise.all(followers.map((each) => each.first(round * 200)));
    hub.kill('SIGKILL');
    const sent = await streaming;
    expect((await hub.ended).signal).toBe('SIGKILL');
    hub = await start();
    worker = await connectWorker(await urlOf(), agent, { resume: [{ ...taken, last_seq: 0 }] });
    expect(worker.registered.resumed).toEqual([taskId]);
    n = Number((worker.registered.last_n as Record<string, number>)[taskId]);
    expect(n).toBeLessThanOrEqual(sent); // the agent repeats what did not arrive
    expect(n).toBeGreaterThan(0);
  }
  await worker.request('task.artifact', chunk(taken, `${n + 1}`, n + 1));
  await worker.request('task.complete', completed(taken, n + 2));

  const last = await lastSeqOf(taskId);
  for (const each of followers) {
    await each.completed;
    expect(each.seen.map(({ seq }) => seq)).toEqual(numbers(1, last));
    expect(textsOf(each)).toEqual(numbers(1, n + 1).map(String));
    expect(each.ends.filter(({ how }) => how === 'cut')).toHaveLength(3);
    expect(each.seen.at(-1)).toMatchObject({ to: 'COMPLETED' });
  }
  expect(await caller.task(taskId)).toMatchObject({
    state: 'COMPLETED',
    delivery: { number: 1, outcome: 'COMPLETED' },
  });
}, 180_000);

test('after SIGKILL the work of an agent that stays away is handed to the next one', async () => {
  const { url, urlOf, start, caller, first } = await openHouse();
  const agent = await caller.registerAgent({ graceSeconds: 0, whenLost: 'REQUEUE' });
  const taskId = await sendTask(caller, agent);
  const followers = transports.map((each) => follow(each, { urlOf, key, taskId, fields }));
  const worker = await connectWorker(url, agent);
  const taken = await takeTask(worker, taskId);
  for (const n of numbers(1, 50)) await worker.request('task.artifact', chunk(taken, `lost ${n}`, n));
  await Promise.all(followers.map((each) => each.first(55)));
  first.kill('SIGKILL');
  await Promise.all([worker.closed, first.ended]);
  await start();
  const other = await connectWorker(await urlOf(), agent);
  const again = await takeTask(other, taskId); // when the lease of the dead instance is over
  expect(again.delivery).toBe(2);
  const late = await other.request('task.artifact', chunk(taken, 'late', 51));
  expect(late.error?.data).toMatchObject({ code: 'STALE_DELIVERY' });
  await other.request('task.artifact', chunk(again, 'done', 1));
  await other.request('task.complete', completed(again, 2));
  for (const each of followers) {
    await each.completed;
    expect(each.seen.map(({ seq }) => seq)).toEqual(numbers(1, await lastSeqOf(taskId)));
    expect(textsOf(each)).toEqual([...numbers(1, 50).map((n) => `lost ${n}`), 'done']);
  }
  expect(await caller.task(taskId)).toMatchObject({ state: 'COMPLETED', delivery: { number: 2 } });
}, 180_000);

test('SIGTERM sends agents and clients away without ending anything, and all goes on after the next start', async () => {
  const { url, urlOf, start, caller, first } = await openHouse();
  const agent = await caller.registerAgent();
  const taskId = await sendTask(caller, agent);
  const waitingId = await sendTask(caller, await caller.registerAgent()); // its agent is not there
  const followers = [taskId, waitingId].flatMap((id) =>
    transports.map((each) => follow(each, { urlOf, key, taskId: id, fields })),
  );
  const worker = await connectWorker(url, agent);
  const taken = await takeTask(worker, taskId);
  await worker.request('task.artifact', chunk(taken, 'before', 1));
  await Promise.all(followers.map((each, index) => each.first(index < 2 ? 8 : 3)));
  worker.notify('task.artifact', chunk(taken, 'just in time', 2)); // taken before the good-bye
  const since = process.hrtime.bigint();
  first.kill('SIGTERM');
  expect((await worker.nextOf('connection.closing')).params).toMatchObject({
    reason: 'restarting',
    reconnect_after_ms: expect.any(Number),
  });
  expect((await worker.closed).code).toBe(1012);
  expect(await first.ended).toEqual({ code: 0, signal: null });
  expect(Number(process.hrtime.bigint() - since) / 1e9).toBeLessThan(10); // nobody was waited for until patience ended
  for (const [index, { ends }] of followers.entries()) {
    await until(() => ends.length > 0, 'the client to be sent away');
    expect(ends).toEqual([transports[index % 2] === 'SSE' ? { how: 'cut' } : { how: 'cut', code: 1012 }]);
  }

  await start();
  const again = await connectWorker(await urlOf(), agent, { resume: [{ ...taken, last_seq: 0 }] });
  const lastN = Number((again.registered.last_n as Record<string, number>)[taskId]);
  for (const n of numbers(lastN + 1, 3))
    await again.request('task.artifact', chunk(taken, n === 2 ? 'just in time' : 'after', n));
  await again.request('task.complete', completed(taken, 4));
  await caller.get('mutation($id: ID!) { cancelTask(id: $id) { task { state } } }', { id: waitingId });
  for (const [index, each] of followers.entries()) {
    await each.completed;
    const last = await lastSeqOf(index < 2 ? taskId : waitingId);
    expect(each.seen.map(({ seq }) => seq)).toEqual(numbers(1, last));
    if (index < 2) expect(textsOf(each)).toEqual(['before', 'just in time', 'after']);
  }
  expect(await caller.task(taskId)).toMatchObject({ state: 'COMPLETED', result: 'beforejust in timeafter' });
}, 180_000);
