import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded/postgres.ts';
import { migrate } from '../../src/store/migrations.ts';

// Once per run: a fresh build for the tests that start real hubs, one PostgreSQL, and a migrated template to clone.

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** Hubs started by tests carry it in their environment, so that none is left behind unseen. */
    runId: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const runId = randomUUID();
  const log = createLog('error');
  const dataDir = await mkdtemp(join(tmpdir(), 'baton-test-'));
  const postgres = await startEmbeddedPostgres({ dataDir, log, onLost: (error) => log.error({ err: error }, 'Lost') });

  const template = openDatabase(postgres.url, log);
  await migrate(template.pool, 'prisma/migrations', log);
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
    if (!environment.includes(`TEST_RUN_ID=${runId}`)) continue;
    left.push(
      `process ${pid} (${(await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').slice(0, 80)})`,
    );
    process.kill(Number(pid), 'SIGKILL');
  }
  return left;
};
