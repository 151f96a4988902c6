import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { childEnvironment } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { startEmbeddedPostgres } from '../src/store/embedded/postgres.ts';
import { migrate } from '../src/store/migrations.ts';
import { type Crash, crash } from './crash.ts';

/** A migrated database of its own, which remembers when each transaction was committed. */
export const startDatabase = async () => {
  const log = createLog('error');
  const { signal } = new AbortController();
  const dataDir = await mkdtemp(join(tmpdir(), 'baton-chaos-'));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  const start = () =>
    startEmbeddedPostgres({
      dataDir,
      env: childEnvironment(),
      log,
      signal,
      onLost: (error) => log.error({ err: error }, 'The database of the chaos run was lost'),
    });
  try {
    const first = await start();
    const setting = new pg.Client({ connectionString: first.url });
    await setting.connect();
    await setting.query('alter system set track_commit_timestamp = on');
    await setting.end();
    await first.stop();

    const { url, stop } = await start();
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    await migrate(pool, { directory: 'prisma/migrations', log, signal });
    await pool.end();
    return {
      url,
      crash: (how: Crash) => crash(join(dataDir, 'postgres'), how),
      async stop() {
        await stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
};

export type ChaosDatabase = Awaited<ReturnType<typeof startDatabase>>;
