import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createDispatcher } from '../../src/core/dispatcher.ts';
import type { TaskHead } from '../../src/core/head.ts';
import type { Log } from '../../src/core/log.ts';
import { createWriter } from '../../src/core/writer.ts';
import { openLogStore } from '../../src/store/log-store.ts';
import { createQueueStore } from '../../src/store/queue.ts';
import { createRandom } from '../random.ts';
import { createAgent, type FakeAgent } from './agent.ts';
import { forgetFence, rememberHeads } from './bugs.ts';
import { createLoad } from './load.ts';
import { recordTo } from './submit.ts';
import { type InstanceOrders, timing } from './world.ts';

// One server: writer, dispatcher, patrol, with the agents that are connected to it and the people who send it work. It ends
// when it is told to, when it is killed, or when the harness is gone.

const orders = JSON.parse(process.argv[2] ?? '{}') as InstanceOrders;
const { url, boot, bug } = orders;
const random = createRandom(orders.seed);

const ignore = () => undefined;
const log: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const pool = new pg.Pool({ connectionString: url, application_name: 'baton', max: 5, connectionTimeoutMillis: 5_000 });
pool.on('error', ignore); // cut by the harness; the next question makes a new connection

const opened = openLogStore({ url, log, defaultTtlSeconds: 3_600 });
const store = bug === 'cached-refusal' ? rememberHeads(opened) : opened;
const writer = createWriter({
  store,
  clock: () => ({ nowMs: Date.now(), newId: randomUUID, placeSeconds: timing.placeSeconds, inputSeconds: 60 }),
  freshVersion: () => Math.floor(Math.random() * 2 ** 47),
  onCommit: ignore,
});

const recorded = (actor: string) => recordTo(`${orders.directory}/${boot}-${actor}.jsonl`, writer.submit);
const agents = new Map<string, FakeAgent>(
  orders.agents.map(({ id, name }) => {
    const submit = recordTo(
      `${orders.directory}/${boot}-agent-${name}.jsonl`,
      bug === 'no-fence' ? forgetFence(pool, writer.submit) : writer.submit,
    );
    return [id, createAgent({ agent: id, submit })];
  }),
);
const handOver = (task: TaskHead): void => agents.get(task.executor.id)?.handOver(task);
const takerOf = (agent: string) => ({ holder: agents.get(agent)?.holder ?? '', instance: boot });

const dispatcher = createDispatcher({
  writer: { ...writer, submit: recorded('dispatcher') },
  queue: createQueueStore(pool),
  agents: {
    ready: () => orders.agents.map(({ id }) => id),
    reserve: takerOf,
    giveBack: ignore,
    handOver: (_, { task }) => handOver(task),
  },
  instance: boot,
  leaseSeconds: timing.leaseSeconds,
  log,
});
const load = createLoad({ orders, random, pool, submit: recorded('load'), takerOf, handOver });

let isStopped = false;
/** A round that fails because its connection was cut is tried again in the next. */
const every = async (ms: number, round: () => Promise<void>): Promise<void> => {
  while (!isStopped) {
    await round().catch(ignore);
    await sleep(ms);
  }
};

const stop = async (): Promise<void> => {
  isStopped = true;
  load.stop();
  await Promise.all(rounds);
  await writer.stop();
  await opened.close();
  await pool.end();
  process.exit(0);
};

process.on('disconnect', () => process.exit(1));
process.on('message', (order: 'quiesce' | 'stop') => {
  load.stop();
  if (order === 'stop') void stop();
});

await dispatcher.patrol().catch(ignore); // the lease first
const rounds = [every(100, dispatcher.dispatch), every(250, async () => void (await dispatcher.patrol())), load.run()];
process.send?.('ready');
