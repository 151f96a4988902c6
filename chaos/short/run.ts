import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPatientClient, type Reader } from '../patient-client.ts';
import { startDatabase } from '../postgres.ts';
import { startProxy } from '../proxy.ts';
import { createRandom } from '../random.ts';
import { judge } from '../verdict.ts';
import { createActors } from './actors.ts';
import { type Bug, breakDatabase, breakProgram } from './bugs.ts';
import { buildIfOld } from './build.ts';
import { check } from './checker.ts';
import { breakThings } from './faults.ts';
import { createServers } from './servers.ts';
import { makeNetworks } from './setup.ts';
import { tables } from './verdict.ts';

// Three hubs on one database, with agents and clients, broken again and again; then the checker.

type Options = { seconds: number; seed: number; bug: Bug | undefined; isCalm: boolean; keeps: boolean };

const drainMs = 90_000;

export const runShort = async ({ seconds, seed, bug, isCalm, keeps }: Options): Promise<number> => {
  console.log(`chaos short: ${seconds} s, seed ${seed}${bug ? `, bug ${bug}` : ''}${isCalm ? ', no faults' : ''}`);
  const random = createRandom(seed);
  const directory = await mkdtemp(join(tmpdir(), 'baton-chaos-files-'));
  const endings: (() => unknown)[] = [];
  const defer = (ending: () => unknown): void => void endings.unshift(ending);
  try {
    defer(async () => {
      if (keeps) console.log(`The actors' files and the servers' logs are in ${directory}`);
      else await rm(directory, { recursive: true, force: true });
    });
    buildIfOld();
    const { program, remove } = breakProgram(bug);
    defer(remove);
    const database = await startDatabase();
    defer(() => database.stop());
    const client = createPatientClient(database.url);
    defer(() => client.end());
    await breakDatabase(client, bug);

    const direct = new URL(database.url);
    const databaseProxy = await startProxy({ host: direct.hostname, port: Number(direct.port) });
    defer(() => databaseProxy.stop());
    direct.port = String(databaseProxy.port);
    const adminKey = randomBytes(24).toString('hex');
    const servers = await createServers({ program, databaseUrl: direct.href, adminKey, directory });
    defer(() => servers.endAll());
    const networks = await makeNetworks(servers.urls[0] ?? '', adminKey);
    const actors = await createActors({ networks, urls: servers.urls, directory, random });
    defer(() => actors.endAll());

    const startedMs = Date.now();
    const ticker = setInterval(() => void tell(client, startedMs), 5_000);
    defer(() => clearInterval(ticker));
    const untilMs = startedMs + seconds * 1_000;
    const faults = isCalm
      ? await sleep(seconds * 1_000).then(() => undefined)
      : await breakThings(untilMs, { servers, actors, databaseProxy, database, client, random });

    actors.quiesce();
    const drainedMs = await drain(client);
    await actors.finish();
    clearInterval(ticker);
    await servers.stop();
    await sleep(1_500); // the backends that ended have told their statistics
    const { violations, counters, history } = await check(client, directory, networks);
    if (keeps) await writeFile(join(directory, 'history.json'), JSON.stringify([...history.values()]));
    for (const what of [...servers.crashes, ...actors.crashes]) violations.push({ rule: 'process', what });
    const ends = { ...actors.counts, ...servers.counts };
    return judge(
      { seconds, faults: faults && { ...faults, ...ends }, counters: { ...counters, drainedMs }, violations },
      tables,
    );
  } finally {
    for (const ending of endings) await ending();
  }
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
  for (let quiet = 0; quiet < 3 && Date.now() - startedMs < drainMs; ) {
    const { rows } = await client.query(countOpen);
    quiet = rows[0].open === 0 && rows[0].lanes === 0 ? quiet + 1 : 0; // a retry may still be under way
    await sleep(400);
  }
  return Date.now() - startedMs;
};
