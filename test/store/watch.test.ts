import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LoggedEvent } from '../../src/core/watch.ts';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
/** Another writer on the same database: what it commits, this instance is not told. */
let elsewhere: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
  elsewhere = await createWorld(database);
});
afterAll(() => Promise.all([world.close(), elsewhere.close()]));

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const seqs = (events: LoggedEvent[]) => events.map(({ seq }) => seq);
const collect = async (events: AsyncIterable<LoggedEvent>): Promise<LoggedEvent[]> => {
  const all: LoggedEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};
/** The next ones, without ending the stream. */
const take = async (events: AsyncIterator<LoggedEvent>, count: number): Promise<LoggedEvent[]> => {
  const taken: LoggedEvent[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
};

test('a watcher is told what was, then what comes, and completes with the task', async () => {
  const task = await world.working();
  const early = collect(world.watchers.watch({ task: task.key, after: 0 }));
  await Promise.all(numbers(1, 200).map((n) => task.chunk(`${n}`)));
  const late = collect(world.watchers.watch({ task: task.key, after: 100 }));
  await task.report({ kind: 'complete' });
  const log = await world.readLog(task.key);
  expect((await early).map(({ seq, kind, from, to, payload }) => ({ seq, kind, from, to, payload }))).toEqual(log);
  expect(seqs(await late)).toEqual(numbers(101, log.length));
});

test('a finished task is replayed from any seq, and completes', async () => {
  const task = await world.working();
  await Promise.all(numbers(1, 90).map((n) => task.chunk(`${n}`)));
  const { task: head } = await task.report({ kind: 'complete' });
  for (const after of [0, 1, 50, head.seq - 1, head.seq])
    expect(seqs(await collect(world.watchers.watch({ task: task.key, after })))).toEqual(numbers(after + 1, head.seq));
});

test('an earlier final does not end a replay, and keepOpen waits for a retry', async () => {
  const task = await world.working();
  await world.writer.submit({ kind: 'cancel', task: task.key, actor: 'ada', reason: 'REQUESTED' });
  const open = world.watchers.watch({ task: task.key, after: 0, keepOpen: true });
  expect((await take(open, 6)).at(-1)).toMatchObject({ kind: 'STATUS', to: 'CANCELED' });
  const next = open.next();
  await world.writer.submit({ kind: 'retry', task: task.key, actor: 'ada' });
  expect((await next).value).toMatchObject({ kind: 'STATUS', from: 'CANCELED', to: 'SUBMITTED' });
  await open.return?.();
  await world.writer.submit({ kind: 'cancel', task: task.key, actor: 'ada', reason: 'REQUESTED' });
  const finals = (await collect(world.watchers.watch({ task: task.key, after: 0 }))).filter(
    (event) => event.to === 'CANCELED',
  );
  expect(finals).toHaveLength(2);
});

test('a reader that stops reading holds up nobody, costs little, and misses nothing', async () => {
  const task = await world.working();
  const stalled = world.watchers.watch({ task: task.key, after: 0 });
  await take(stalled, 3);
  for (let round = 0; round < 10; round++) await Promise.all(numbers(1, 900).map((n) => task.chunk(`${n}`)));
  await task.report({ kind: 'complete' });
  expect(seqs(await collect(stalled))).toEqual(numbers(4, 6 + 9_000 + 2));
});

test('a watcher stops at once when it is told, also while it waits', async () => {
  const task = await world.working();
  const abort = new AbortController();
  const [returned, aborted] = [
    world.watchers.watch({ task: task.key, after: 4 }),
    world.watchers.watch({ task: task.key, after: 4, signal: abort.signal }),
  ];
  const waiting = [returned.next(), aborted.next()];
  await returned.return?.();
  abort.abort();
  expect(await Promise.all(waiting)).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  expect(await collect(world.watchers.watch({ task: task.key, after: 0, signal: abort.signal }))).toEqual([]);
});

test('what another instance writes is found without being told', async () => {
  const task = await elsewhere.working();
  const events = world.watchers.watch({ task: task.key, after: 0 });
  await take(events, 4);
  const next = take(events, 3);
  await Promise.all([task.chunk('a'), task.chunk('b')]);
  await world.watchers.poll();
  expect(seqs(await next)).toEqual([5, 6, 7]);
  const rest = collect(events);
  await task.report({ kind: 'complete' });
  await world.watchers.poll();
  expect(seqs(await rest)).toEqual([8, 9, 10]);
});

test('a cursor beyond the end and a task that is not there are refused', async () => {
  const task = await world.working();
  await expect(collect(world.watchers.watch({ task: task.key, after: 99 }))).rejects.toMatchObject({
    code: 'BAD_INPUT',
  });
  await expect(collect(world.watchers.watch({ task: randomUUID(), after: 0 }))).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
