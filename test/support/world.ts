import { randomUUID } from 'node:crypto';
import type { Command, Message } from '../../src/core/command.ts';
import type { Clock } from '../../src/core/decide.ts';
import { type AgentSide, createDispatcher } from '../../src/core/dispatcher.ts';
import type { TaskEvent } from '../../src/core/draft.ts';
import { createWatchers } from '../../src/core/watch.ts';
import { type Answer, createWriter } from '../../src/core/writer.ts';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createEventLog } from '../../src/store/event-log.ts';
import { openLogStore } from '../../src/store/log-store.ts';
import { createQueueStore } from '../../src/store/queue.ts';
import type { TestDatabase } from './database.ts';

/** A network with a user and an agent, and a writer on its database. */
export const createWorld = async ({ url, query }: TestDatabase) => {
  const [network, user, agent] = [randomUUID(), randomUUID(), randomUUID()];
  await query('insert into network (id, name) values ($1, $2)', [network, 'n']);
  await query('insert into "user" (id, network_id, name) values ($1, $2, $3)', [user, network, 'ada']);
  await query('insert into agent (id, network_id, owner_id, name) values ($1, $2, $3, $4)', [
    agent,
    network,
    user,
    'echo',
  ]);
  const executor = {
    id: agent,
    name: 'echo',
    isAsync: false,
    whenLost: 'FAIL',
    maxAttempts: 3,
    graceSeconds: 30,
    turnSeconds: 1_800,
    capacity: null,
  } as const;

  const { pool, close: closePool } = openDatabase(url, createLog('silent'));
  const watchers = createWatchers(createEventLog(pool));
  const told = new Map<string, TaskEvent[]>();
  let flushes = 0;
  const store = openLogStore({ url, log: createLog('silent'), defaultTtlSeconds: 3_600 });
  const clock = (): Clock => ({ nowMs: Date.now(), newId: randomUUID, placeSeconds: 15, inputSeconds: 604_800 });
  const flush: typeof store.flush = (batch) => {
    flushes += 1;
    return store.flush(batch);
  };
  const writer = createWriter({
    store: { ...store, flush },
    clock,
    freshVersion: () => Math.floor(Math.random() * 2 ** 47),
    onCommit: (committed) => {
      watchers.publish(committed);
      for (const { task, events } of committed) told.set(task.key, [...(told.get(task.key) ?? []), ...events]);
    },
  });

  const handed: { agent: string; task: string; delivery: number; holder: string | null }[] = [];
  /** An agent's side that takes everything over one connection. */
  const agents = (holder: string, instance: string): AgentSide => ({
    ready: () => [agent],
    reserve: () => ({ holder, instance }),
    giveBack: () => undefined,
    handOver: (_, { task: { key, delivery, holder } }) => handed.push({ agent, task: key, delivery, holder }),
  });
  const createInstance = (leaseSeconds = 10) => {
    const [holder, instance] = [randomUUID(), randomUUID()];
    const queue = createQueueStore(pool);
    const dispatcher = createDispatcher({
      writer,
      queue,
      agents: agents(holder, instance),
      instance,
      leaseSeconds,
      log: createLog('silent'),
    });
    return { holder, instance, ...dispatcher };
  };

  const newContext = async (): Promise<string> => {
    const key = randomUUID();
    await query('insert into context (key, network_id, owner_id, id) values ($1, $2, $3, $1::uuid::text)', [
      key,
      network,
      user,
    ]);
    return key;
  };

  /** A create, ready to be submitted. */
  const create = (
    context: string,
    change: Partial<{ id: string; messageId: string; holder: string }> = {},
  ): Extract<Command, { kind: 'create' }> => {
    const key = randomUUID();
    return {
      kind: 'create',
      task: key,
      created: {
        key,
        id: change.id ?? key,
        network,
        context,
        contextId: context,
        root: key,
        parent: null,
        depth: 0,
        user,
        requester: { id: user, isAgent: false, name: 'ada' },
        executor,
        skill: null,
        priority: 'NORMAL',
        ttlSeconds: null,
        timeoutSeconds: null,
        hold: null,
        metadata: { color: 'blue' },
      },
      message: message('hello', change.messageId),
      ...(change.holder && { taker: { holder: change.holder, instance: randomUUID() } }),
    };
  };

  /** A task that an agent works on over a connection. */
  const working = async () => {
    const holder = randomUUID();
    const { task } = await writer.submit(create(await newContext(), { holder }));
    const fence = { agent, delivery: 1, holder };
    const report = (
      command: { kind: 'progress'; text?: string } | { kind: 'complete' } | { kind: 'acknowledge' },
    ): Promise<Answer> => writer.submit({ ...command, task: task.key, fence } as Command);
    const chunk = (
      text: string,
      change: Partial<{ n: number; append: boolean; lastChunk: boolean }> = {},
    ): Promise<Answer> => {
      const { n, append = true, lastChunk = false } = change;
      return writer.submit({
        kind: 'artifact',
        task: task.key,
        fence,
        ...(n && { n }),
        chunk: { artifactId: 'a', parts: [{ text }], append, lastChunk },
      });
    };
    return { key: task.key, fence, holder, report, chunk };
  };

  /** The log as it is stored, a line each. */
  const readLog = async (key: string) => {
    const { rows } = await query(
      `select e.first_seq + n::int - 1 as seq, e.kind, e."from", e."to", line as payload
       from event e cross join lateral json_array_elements(e.payload) with ordinality lines(line, n) where task_key = $1 order by 1`,
      [key],
    );
    return rows as {
      seq: number;
      kind: string;
      from: string | null;
      to: string | null;
      payload: Record<string, unknown>;
    }[];
  };

  return {
    agent,
    network,
    writer,
    create,
    working,
    newContext,
    readLog,
    told,
    watchers,
    handed,
    createInstance,
    pool,
    flushes: () => flushes,
    close: async () => {
      await writer.stop();
      await store.close();
      await closePool();
    },
  };
};

export const message = (text: string, id: string = randomUUID()): Message => ({
  id,
  author: 'USER',
  authorName: 'ada',
  kind: 'TASK',
  parts: [{ text }],
  inReplyTo: null,
  metadata: {},
});
