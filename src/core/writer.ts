import type { Command } from './command.ts';
import type { Clock, Decision } from './decide.ts';
import { DomainError } from './domain-error.ts';
import { bringsId, type Folded, fold, holdOf, laneKey, lanesOf, loadOf } from './fold.ts';
import type { LaneHead, LoadHead, TaskHead } from './head.ts';
import { type Bringing, type Committed, type LogStore, RefusedFlush } from './ports.ts';

// Group commit. One flush is on its way at a time; while it is, the next batch grows. A group whose heads have moved on
// since they were read is missed: nobody's error, it is decided again on heads read afresh, before newer commands.

export type Answer = { /** The task as the command left it. */ task: TaskHead };

export type Writer = {
  submit(command: Command): Promise<Answer>;
  /** How much of a task waits to be written. Who reads its socket stops reading at 1,000. */
  pendingOf(task: string): number;
  /** How much waits in all. At 20,000 everybody is refused. */
  pending(): number;
  /** Takes nothing more, and resolves when all that was taken is settled. */
  stop(): Promise<void>;
};

type Options = {
  store: LogStore;
  clock: () => Clock;
  /** A version for a lane that does not exist, never used before. */
  freshVersion: () => number;
  onCommit: (committed: Committed[]) => void;
};

type Loaded = {
  fresh: Set<string>;
  rivals: Map<string, TaskHead>;
  loads: Map<string, LoadHead>;
  available: Map<string, bigint>;
};
type Item = { command: Command; misses: number; resolve: (answer: Answer) => void; reject: (error: unknown) => void };

const perFlush = 512;
const perTask = 64;
const missesBeforeAlone = 8;
const pendingPerTask = 1_000;
const pendingInAll = 20_000;
const cachedHeads = 10_000;

export const createWriter = ({ store, clock, freshVersion, onCommit }: Options): Writer => {
  const lines = new Map<string, Item[]>(); // by task: what waits to be written
  const tasks = new Map<string, TaskHead>();
  const lanes = new Map<string, { head: LaneHead; isFresh: boolean }>();
  let pending = 0;
  let running: Promise<void> | undefined;
  let isStopped = false;

  const pendingOf = (task: string): number => lines.get(task)?.length ?? 0;

  const submit = (command: Command): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (isStopped) return reject(new DomainError('RATE_LIMITED', 'The hub is stopping'));
      if (pending >= pendingInAll || pendingOf(command.task) >= pendingPerTask)
        return reject(new DomainError('RATE_LIMITED', 'Too much waits to be written; try again in a moment'));
      line(command.task).push({ command, misses: 0, resolve, reject });
      pending += 1;
      running ??= run();
    });

  const line = (task: string): Item[] => {
    const found = lines.get(task) ?? [];
    lines.set(task, found);
    return found;
  };

  const run = async (): Promise<void> => {
    await undefined; // what is submitted in this turn goes together
    while (pending > 0) {
      const batch = nextBatch();
      await commit(batch).catch((error) => fail(batch, error));
    }
    running = undefined;
  };

  /** Tasks in turn, so that a busy one holds up nobody; one that was missed too often goes alone. */
  const nextBatch = (): Item[] => {
    const batch: Item[] = [];
    for (const [task, items] of [...lines]) {
      const isAlone = (items[0]?.misses ?? 0) >= missesBeforeAlone;
      if (isAlone && batch.length > 0) continue;
      batch.push(...items.splice(0, isAlone ? 1 : Math.min(perTask, perFlush - batch.length)));
      lines.delete(task);
      if (items.length > 0) lines.set(task, items); // behind the others
      if (isAlone || batch.length >= perFlush) break;
    }
    pending -= batch.length;
    return batch;
  };

  const commit = async (batch: Item[]): Promise<void> => {
    const { fresh, rivals, loads, available } = await load(batch);
    const known = {
      task: (key: string) => tasks.get(key),
      rival: (command: Bringing) =>
        rivals.get(command.message?.id ?? '') ??
        (command.kind === 'create' ? rivals.get(command.created.id) : undefined),
      lane: (id: { agent: string; context: string }) => lanes.get(laneKey(id)) ?? absent(id),
      load: (agent: string) => loads.get(agent) ?? { agent, version: 0, running: 0 },
      available: (account: string) => available.get(account),
    };
    const moment = clock();
    const folded = fold(batch, known, moment);
    const changed = folded.filter(({ group }) => group.tasks.length > 0);
    const missed = await flush(changed, moment).catch((error) => {
      if (!(error instanceof RefusedFlush) || batch.length === 1) throw error;
      return undefined;
    });
    if (!missed) return oneByOne(batch);

    const again: Item[] = [];
    const committed: Committed[] = [];
    changed.forEach((each, index) => {
      if (missed.has(index)) again.push(...forget(each));
      else {
        remember(each);
        for (const { head, drafts } of each.group.tasks)
          committed.push({ task: head, atMs: moment.nowMs, events: drafts.flatMap(({ events }) => events) });
      }
    });
    if (committed.length > 0) onCommit(committed);
    changed.forEach(({ group, outcomes }, index) => {
      if (missed.has(index)) return;
      // A task that only was refused something was not compared: its head must be fresh.
      const compared = new Set(group.tasks.map(({ head }) => head.key));
      for (const { item, decision } of outcomes)
        if (compared.has(item.command.task) || fresh.has(item.command.task)) settle(item, decision);
        else {
          drop([item]);
          again.push({ ...item, misses: item.misses + 1 });
        }
    });
    // Where nothing was written nothing confirmed the heads: only fresh ones are good for an answer.
    for (const each of folded.filter(({ group }) => group.tasks.length === 0))
      if (each.outcomes.every(({ item }) => fresh.has(item.command.task)))
        for (const { item, decision } of each.outcomes) settle(item, decision);
      else again.push(...forget(each));
    putFirst(again);
  };

  const flush = async (changed: Folded<Item>[], { nowMs, newId }: Clock): Promise<ReadonlySet<number>> =>
    changed.length === 0
      ? new Set()
      : store.flush({ id: newId(), atMs: nowMs, groups: changed.map(({ group }) => group) });

  /** Nothing was written because of one of them: only the guilty one fails. */
  const oneByOne = async (batch: Item[]): Promise<void> => {
    drop(batch);
    for (const item of batch) await commit([item]).catch((error) => fail([item], error));
  };

  /** Reads what is not known; returns the tasks whose heads are as fresh as can be. */
  const load = async (batch: Item[]): Promise<Loaded> => {
    const unknown = batch.filter(({ command }) => command.kind !== 'create' && !tasks.has(command.task));
    const keys = [...new Set(unknown.map(({ command }) => command.task))];
    const retried = batch
      .filter(({ misses }) => misses > 0)
      .map(({ command }) => command)
      .filter(bringsId);
    if (keys.length > 0) for (const head of await store.readTasks(keys)) tasks.set(head.key, head);
    const rivals = retried.length > 0 ? await store.readRivals(retried) : new Map<string, TaskHead>();
    // A create assumes that its lane is not there, until it was wrong once.
    const wanted = batch
      .filter(({ command, misses }) => command.kind !== 'create' || misses > 0)
      .flatMap(({ command }) => lanesOf(command, tasks.get(command.task)))
      .filter((id) => !lanes.has(laneKey(id)));
    const ids = [...new Map(wanted.map((id) => [laneKey(id), id])).values()];
    if (ids.length > 0)
      for (const head of await store.readLanes(ids)) lanes.set(laneKey(head), { head, isFresh: false });
    const agents = new Set(batch.flatMap(({ command }) => loadOf(command, tasks.get(command.task)) ?? []));
    const loads = agents.size > 0 ? await store.readLoads([...agents]) : [];
    // The database says whether an account covers a hold; only who was missed looks for the reason.
    const accounts = batch.flatMap(({ command, misses }) => (misses > 0 && holdOf(command)?.account) || []);
    return {
      fresh: new Set([...keys, ...retried.map(({ task }) => task)]),
      rivals,
      loads: new Map(loads.map((head) => [head.agent, head])),
      available: accounts.length > 0 ? await store.readAvailable([...new Set(accounts)]) : new Map(),
    };
  };

  const absent = (id: { agent: string; context: string }) => ({
    head: { ...id, version: freshVersion(), running: null, first: null, waiting: 0 },
    isFresh: true,
  });

  const remember = ({ group }: Folded<Item>): void => {
    for (const { head } of group.tasks) tasks.set(head.key, head);
    for (const { head } of group.lanes) {
      lanes.delete(laneKey(head)); // an empty one is removed by the flush
      if ((head.running || head.waiting > 0) && head.first !== undefined)
        lanes.set(laneKey(head), { head, isFresh: false });
    }
    for (const cache of [tasks, lanes])
      for (const key of cache.keys())
        if (cache.size > cachedHeads) cache.delete(key);
        else break;
  };

  const forget = ({ outcomes }: Folded<Item>): Item[] => {
    const items = outcomes.map(({ item }) => item);
    drop(items);
    for (const item of items) item.misses += 1;
    return items;
  };

  const drop = (items: Item[]): void => {
    // Lanes first: which one it is, the task tells.
    for (const { command } of items)
      for (const id of lanesOf(command, tasks.get(command.task))) lanes.delete(laneKey(id));
    for (const { command } of items) tasks.delete(command.task);
  };

  const putFirst = (items: Item[]): void => {
    if (items.length === 0) return;
    const later = [...lines];
    lines.clear();
    for (const item of items) line(item.command.task).push(item);
    for (const [task, rest] of later) line(task).push(...rest);
    pending += items.length;
  };

  const settle = ({ resolve, reject }: Item, decision: Decision): void => {
    if (decision.kind === 'refused') reject(decision.error);
    else resolve({ task: decision.kind === 'changed' ? decision.draft.task : decision.task });
  };

  const fail = (items: Item[], error: unknown): void => {
    drop(items);
    for (const item of items) item.reject(error);
  };

  return {
    submit,
    pendingOf,
    pending: () => pending,
    async stop() {
      isStopped = true;
      await running;
    },
  };
};
