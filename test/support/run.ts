import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { childEnvironment } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded/postgres.ts';
import { migrate } from '../../src/store/migrations.ts';

// Once per run: a fresh build for the tests that start real hubs, one PostgreSQL, and a migrated template to clone.

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** In the environment of hubs that tests start, and in the names of directories: nothing is left behind unseen. */
    runId: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const runId = randomBytes(4).toString('hex');
  const log = createLog('error');
  const dataDir = await mkdtemp(join(tmpdir(), 'baton-run-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    env: childEnvironment(),
    log,
    signal: new AbortController().signal,
    onLost: (error) => log.error({ err: error }, 'Lost'),
  });

  const template = openDatabase(postgres.url, log);
  await migrate(template.pool, { directory: 'prisma/migrations', log, signal: new AbortController().signal });
  await template.close();
  project.provide('postgresUrl', postgres.url);
  project.provide('runId', runId);

  return async () => {
    const left = [...(await databasesLeft(postgres.url)), ...(await processesLeft(runId))];
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`The run left behind: ${left.join(', ')}`);
  };
}

const databasesLeft = async (url: string): Promise<string[]> => {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query("select datname from pg_database where datname like 'test_%'");
  await client.end();
  return rows.map(({ datname }) => `database ${datname}`);
};

/** Ends what it finds. Linux only: elsewhere a process's environment cannot be read. */
const processesLeft = async (runId: string): Promise<string[]> => {
  const left: string[] = [];
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
    if (!environment.includes(`TEST_RUN_ID=${runId}`) && !command.includes(`baton-test-${runId}`)) continue;
    left.push(`process ${pid} (${command.slice(0, 120)})`);
    process.kill(Number(pid), 'SIGKILL');
  }
  return left;
};
