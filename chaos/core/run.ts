import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPatientClient, type Reader } from '../patient-client.ts';
import { startDatabase } from '../postgres.ts';
import { startProxy } from '../proxy.ts';
import { createRandom } from '../random.ts';
import { judge } from '../verdict.ts';
import { breakFlush } from './bugs.ts';
import { check } from './checker.ts';
import { breakThings } from './faults.ts';
import { createInstances } from './instances.ts';
import { tables } from './verdict.ts';
import { type Bug, timing } from './world.ts';

// Two servers and their database, broken again and again under load; then the checker.

type Options = {
  seconds: number;
  seed: number;
  bug: Bug | undefined;
  isCalm: boolean;
  reassigns: boolean;
  keeps: boolean;
};

const drainMs = 75_000; // a long line behind agents that hang or wait for an authorization

export const runCore = async ({ seconds, seed, bug, isCalm, reassigns, keeps }: Options): Promise<number> => {
  console.log(`chaos core: ${seconds} s, seed ${seed}${bug ? `, bug ${bug}` : ''}${isCalm ? ', no faults' : ''}`);
  const random = createRandom(seed);
  const directory = await mkdtemp(join(tmpdir(), 'baton-chaos-files-'));
  const endings: (() => unknown)[] = [];
  const stack = { defer: (ending: () => unknown) => void endings.unshift(ending) };
  try {
    stack.defer(async () => {
      if (keeps) console.log(`The actors' files are in ${directory}`);
      else await rm(directory, { recursive: true, force: true });
    });
    const database = await startDatabase();
    stack.defer(() => database.stop());
    const client = createPatientClient(database.url);
    stack.defer(() => client.end());
    const world = await makeWorld(client);
    if (bug) await breakFlush(client, bug);

    const direct = new URL(database.url);
    const proxy = await startProxy({ host: direct.hostname, port: Number(direct.port) });
    stack.defer(() => proxy.stop());
    direct.port = String(proxy.port);
    const instances = createInstances({ ...world, url: direct.href, directory, bug, reassigns }, () =>
      random.between(0, 2 ** 31),
    );
    stack.defer(() => instances.endAll());
    await Promise.all([instances.start(0), instances.start(1)]);

    const startedMs = Date.now();
    const untilMs = startedMs + seconds * 1_000;
    const ticker = setInterval(() => void tell(client, startedMs), 5_000);
    stack.defer(() => clearInterval(ticker));
    const faults = isCalm
      ? await sleep(seconds * 1_000).then(() => undefined)
      : await breakThings(untilMs, { instances, proxy, database, client, random });

    instances.tell('quiesce');
    const drainedMs = await drain(client);
    clearInterval(ticker);
    await instances.stop(10_000);
    await sleep(1_500); // the backends that ended have told their statistics
    const { violations, counters } = await check(client, directory);
    for (const what of instances.crashes) violations.push({ rule: 'process', what });
    return judge({ seconds, faults, counters: { ...counters, drainedMs }, violations }, tables);
  } finally {
    for (const ending of endings) await ending();
  }
};

const makeWorld = async (client: Reader) => {
  const [network, user] = [randomUUID(), randomUUID()];
  await client.query('insert into network (id, name) values ($1, $2)', [network, 'chaos']);
  await client.query('insert into "user" (id, network_id, name) values ($1, $2, $3)', [user, network, 'ada']);
  const agents = ['alpha', 'beta'].map((name) => ({ id: randomUUID(), name }));
  for (const { id, name } of agents)
    await client.query(
      `insert into agent (id, network_id, owner_id, name, grace_seconds, timeout_seconds, when_lost, max_attempts)
        values ($1, $2, $3, $4, $5, $6, 'REQUEUE', $7)`,
      [id, network, user, name, timing.graceSeconds, timing.turnSeconds, timing.maxAttempts],
    );
  const contexts = Array.from({ length: 8 }, () => randomUUID());
  for (const key of contexts)
    await client.query('insert into context (key, network_id, owner_id, id) values ($1, $2, $3, $1::uuid::text)', [
      key,
      network,
      user,
    ]);
  return { network, user, agents, contexts };
};

const countOpen = `select (select count(*)::int from task) as tasks, (select count(*)::int from event) as rows,
  (select count(*)::int from task where finished_at is null) as open, (select count(*)::int from lane) as lanes`;

const tell = async (client: Reader, startedMs: number): Promise<void> => {
  const { rows } = await client.query(countOpen);
  const { tasks, rows: events, open } = rows[0];
  console.log(
    `  ${Math.round((Date.now() - startedMs) / 1_000)} s: ${tasks} tasks, ${open} open, ${events} event rows`,
  );
};

/** Until nothing is open and no place is held, or it takes too long: then the checker tells what is left. */
const drain = async (client: Reader): Promise<number> => {
  const startedMs = Date.now();
  while (Date.now() - startedMs < drainMs) {
    const { rows } = await client.query(countOpen);
    if (rows[0].open === 0 && rows[0].lanes === 0) break;
    await sleep(200);
  }
  return Date.now() - startedMs;
};
