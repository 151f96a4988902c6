import { beforeAll, describe, expect, test } from 'vitest';
import { linesOf } from '../../src/store/event-log.ts';
import { useHouse } from '../support/house.ts';
import { recordStatements } from '../support/statements.ts';
import { type Subscription, subscribe, type Transport, transports, type Watching } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { chunk, completed, connectWorker, takeTask } from '../support/worker.ts';

const house = useHouse();
let agent: Awaited<ReturnType<typeof house.registerAgent>>;
beforeAll(async () => {
  agent = await house.registerAgent();
});

const fields = 'seq ... on ArtifactEvent { parts { text } } ... on StatusEvent { to final }';
const watch = (transport: Transport, taskId: string, more: Partial<Watching> = {}): Subscription =>
  subscribe(transport, { url: house.url, key: house.ownerKey, fields, taskId, ...more });
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const seqs = ({ events }: Subscription) => events.map(({ seq }) => seq);

/** The log as it is stored, in the shape of `fields`. */
const logOf = async (taskId: string) => {
  const { rows } = await house.query(
    'select e.* from event e join task t on t.key = e.task_key where t.id = $1 order by e.seq',
    [taskId],
  );
  return rows.flatMap(linesOf).map((line) => ({
    seq: line.seq,
    ...(line.kind === 'ARTIFACT' && { parts: line.payload.parts.map(({ text }) => ({ text })) }),
    ...(line.kind === 'STATUS' && { to: line.to, final: ['COMPLETED', 'CANCELED'].includes(line.to) }),
  }));
};

/** A task that an agent is working on. */
const working = async () => {
  const { id } = await house.send({ agent: agent.name, text: 'work' });
  const worker = await connectWorker(house.url, agent);
  const taken = await takeTask(worker, id);
  const say = (...texts: string[]) =>
    Promise.all(texts.map((text) => worker.request('task.artifact', chunk(taken, text))));
  const complete = () => worker.request('task.complete', completed(taken));
  return { id: id as string, worker, taken, say, complete };
};
const finished = async () => {
  const task = await working();
  await task.say(...numbers(1, 90).map(String));
  await task.complete();
  task.worker.socket.terminate();
  return task.id;
};
const cancel = (id: string) => house.get('mutation($id: ID!) { cancelTask(id: $id) { task { state } } }', { id });
const retry = (id: string) => house.get('mutation($id: ID!) { retryTask(id: $id) { state } }', { id });

describe.each(transports)('over %s', (transport) => {
  test('a task is told from its first event, then live, and the stream completes with it', async () => {
    const { id } = await house.send({ agent: agent.name, text: 'work' });
    const early = watch(transport, id);
    await early.first(3);
    const worker = await connectWorker(house.url, agent);
    const taken = await takeTask(worker, id);
    const say = (n: number) => worker.request('task.artifact', chunk(taken, `${n} `));
    await Promise.all(numbers(1, 100).map(say));
    const [late, later] = [watch(transport, id), watch(transport, id, { after: 50 })];
    await Promise.all([late.first(1), later.first(1), ...numbers(101, 200).map(say)]); // some replayed, some live
    await worker.request('task.complete', completed(taken));
    for (const { ended } of [early, late, later]) expect(await ended).toEqual({ how: 'completed' });

    const log = await logOf(id);
    expect(seqs(early)).toEqual(numbers(1, log.length));
    expect(early.events).toEqual(log);
    expect(late.events).toEqual(log);
    expect(later.events).toEqual(log.slice(50));
    expect(log.at(-1)).toEqual({ seq: log.length, to: 'COMPLETED', final: true });
  });

  test('a finished task is replayed after any event, and completes', async () => {
    const id = await finished();
    const log = await logOf(id);
    for (const after of [0, 1, 5, 50, log.length - 1, log.length]) {
      const replay = watch(transport, id, { after });
      expect(await replay.ended).toEqual({ how: 'completed' });
      expect(replay.events).toEqual(log.slice(after));
    }
  });

  test('earlier finals end neither a replay nor a stream that waits for the next one', async () => {
    const { id } = await house.send({ agent: agent.name, text: 'work' });
    await cancel(id);
    await retry(id);
    const stream = watch(transport, id);
    await stream.first((await logOf(id)).length);
    await cancel(id);
    expect(await stream.ended).toEqual({ how: 'completed' });
    expect(stream.events).toEqual(await logOf(id));
    expect(stream.events.filter(({ final }) => final)).toHaveLength(2);
  });

  test('keepOpen waits for a retry, and goes on', async () => {
    const { id } = await house.send({ agent: agent.name, text: 'work' });
    await cancel(id);
    const [open, other] = [watch(transport, id, { keepOpen: true }), watch(transport, id)];
    expect(await other.ended).toEqual({ how: 'completed' });
    expect(await open.first(other.events.length)).toEqual(other.events);
    await retry(id);
    await cancel(id);
    const log = await logOf(id);
    expect(await open.first(log.length)).toEqual(log);
    await retry(id); // it is open still
    await open.first(log.length + 1);
    await cancel(id);
  });

  test('what cannot be is refused with its code', async () => {
    const { id } = await house.send({ agent: agent.name, text: 'work' });
    const { key } = await house.createUser();
    const refused = async (more: Partial<Watching>) => {
      const { events, ended } = watch(transport, id, more);
      const end = await ended;
      expect(events).toEqual([]);
      return end;
    };
    for (const after of [4, 1_000, 2_147_483_647])
      expect(await refused({ after })).toMatchObject({ how: 'refused', code: 'BAD_INPUT' });
    for (const after of [-1, -2_147_483_648])
      expect(await refused({ after })).toMatchObject({ how: 'refused', code: 'BAD_INPUT' });
    for (const taskId of ['0190a000-0000-7000-8000-000000000000', 'nonsense', ''])
      expect(await refused({ taskId })).toMatchObject({ how: 'refused', code: 'NOT_FOUND' });
    expect(await refused({ key })).toMatchObject({ how: 'refused', code: 'NOT_FOUND' });
    expect(await refused({ key: null })).toMatchObject({ how: 'refused', code: 'UNAUTHENTICATED' });
    await cancel(id);
    const head = (await logOf(id)).length;
    expect(await refused({ after: head + 1, keepOpen: true })).toMatchObject({ how: 'refused', code: 'BAD_INPUT' });
  });

  test('50 subscribers of one task get the same', async () => {
    const task = await working();
    const all = numbers(1, 50).map(() => watch(transport, task.id));
    await Promise.all(all.map((each) => each.first(1)));
    for (const round of numbers(1, 5)) await task.say(...numbers(1, 40).map((n) => `${round} ${n}`));
    await task.complete();
    for (const { ended } of all) expect(await ended).toEqual({ how: 'completed' });
    const log = await logOf(task.id);
    expect(log.length).toBeGreaterThan(200);
    for (const { events } of all) expect(events).toEqual(log);
  });

  test('50 tasks are told apart', async () => {
    const worker = await connectWorker(house.url, agent);
    const sent = numbers(1, 50).map(() => house.send({ agent: agent.name, text: 'work' }));
    const ids: string[] = (await Promise.all(sent)).map(({ id }) => id);
    const all = ids.map((id) => watch(transport, id));
    const work = async () => {
      const taken = await takeTask(worker);
      for (const n of numbers(1, 20)) worker.notify('task.artifact', chunk(taken, `${taken.task_id} ${n}`));
      await worker.request('task.complete', completed(taken));
    };
    await Promise.all(ids.map(work));
    for (const { ended } of all) expect(await ended).toEqual({ how: 'completed' });
    for (const [index, id] of ids.entries()) expect(all[index]?.events).toEqual(await logOf(id));
  });

  test('who unsubscribes or vanishes is forgotten, and nothing is canceled', async () => {
    const sent = recordStatements();
    const looks = (): string[][] =>
      sent.flatMap(({ text, values }) =>
        text.includes('select key, last_seq, state from task') ? [values[0] as string[]] : [],
      );
    const [{ id }, witness] = [
      await house.send({ agent: agent.name, text: 'left' }),
      await house.send({ agent: agent.name, text: 'watched' }),
    ];
    const keyOf = async (taskId: string) =>
      (await house.query('select key from task where id = $1', [taskId])).rows[0].key;
    const [left, watched] = [await keyOf(id), await keyOf(witness.id)];
    const stays = watch(transport, witness.id);
    const leaves = watch(transport, id);
    // The hub looks every second after what is watched.
    await until(() => looks().some((keys) => keys.includes(left) && keys.includes(watched)), 'both to be looked after');
    for (const round of numbers(1, 10)) {
      const some = numbers(1, 10).map(() => watch(transport, id));
      await Promise.all(some.map((each) => each.first(3)));
      for (const each of some)
        if (round % 2 === 0) each.vanish();
        else await each.stop();
    }
    await leaves.stop();
    await until(() => looks().at(-1)?.join() === watched, 'the watchers to be gone');
    const { state } = await house.get('query($id: ID!) { task(id: $id) { state } }', { id });
    expect(state).toBe('SUBMITTED');
    await cancel(id);
    await cancel(witness.id);
    expect(await stays.ended).toEqual({ how: 'completed' });
  });
});
