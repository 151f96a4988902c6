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
import { createAnswers } from './answers.ts';
import { forgetFence, forgetHolder, rememberHeads } from './bugs.ts';
import { createLoad } from './load.ts';
import { openLines } from './record.ts';
import { recordTo, type Submit } from './submit.ts';
import type { Bookmark } from './turn.ts';
import { type InstanceOrders, type Order, type Passed, timing } from './world.ts';

// One server: writer, dispatcher, patrol, with the agents that are connected to it and the people who send it work. It ends
// when it is told to, when it is killed, or when the harness is gone.

const orders = JSON.parse(process.argv[2] ?? '{}') as InstanceOrders;
const { url, boot, bug } = orders;
const random = createRandom(orders.seed);

const ignore = () => undefined;
// Statistics of the database do not outlive its crashes: which flushes were rolled back is written down here.
const rollbacks = openLines(`${orders.directory}/${boot}.rollbacks`);
const warn = (facts: object): void => void ('code' in facts && rollbacks.write(facts));
const log: Log = { debug: ignore, info: ignore, warn, error: ignore };
const pool = new pg.Pool({ connectionString: url, application_name: 'baton', max: 5, connectionTimeoutMillis: 5_000 });
pool.on('error', ignore); // cut by the harness; the next question makes a new connection

const opened = openLogStore({ url, log, defaultTtlSeconds: 3_600 });
const store = bug === 'cached-refusal' ? rememberHeads(opened) : opened;
const writer = createWriter({
  store,
  clock: () => ({
    nowMs: Date.now(),
    newId: randomUUID,
    placeSeconds: timing.placeSeconds,
    inputSeconds: timing.inputSeconds,
  }),
  freshVersion: () => Math.floor(Math.random() * 2 ** 47),
  onCommit: ignore,
});

const recorded = (actor: string, submit = writer.submit) =>
  recordTo(`${orders.directory}/${boot}-${actor}.jsonl`, submit);
const pass = (passed: Passed): void => void process.send?.(passed);
const reported: Submit =
  bug === 'no-fence'
    ? forgetFence(pool, writer.submit)
    : bug === 'no-holder'
      ? forgetHolder(writer.submit)
      : writer.submit;
const hub = recorded('hub');
const agents = new Map<string, FakeAgent>(
  orders.agents.map(({ id, name }) => {
    const sendAway = (bookmark: Bookmark) => pass({ pass: 'comeBack', bookmark });
    return [id, createAgent({ agent: id, instance: boot, submit: recorded(`agent-${name}`, reported), hub, sendAway })];
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
const answers = createAnswers({
  random,
  pool,
  submit: recorded('answers'),
  sendElsewhere: (answer) => pass({ pass: 'answer', answer }),
});

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
  answers.stop();
  await Promise.all(rounds);
  await writer.stop();
  await opened.close();
  await pool.end();
  process.exit(0);
};

process.on('disconnect', () => process.exit(1));
process.on('message', (order: Order) => {
  if (typeof order === 'string') {
    load.stop();
    answers.stop();
    if (order === 'stop') void stop();
  } else if (order.pass === 'answer') answers.send(order.answer);
  else agents.get(order.bookmark.agent)?.comeBack(order.bookmark);
});

await dispatcher.patrol().catch(ignore); // the lease first
const look = async () => void (await dispatcher.patrol());
const rounds = [every(100, dispatcher.dispatch), every(250, look), load.run(), answers.run()];
process.send?.('ready');
