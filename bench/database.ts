import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { childEnvironment } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { openDatabase } from '../src/store/database.ts';
import { startEmbeddedPostgres } from '../src/store/embedded/postgres.ts';
import { migrate } from '../src/store/migrations.ts';
import { treeTimeUs } from './process-time.ts';

export type BenchDatabase = {
  url: string;
  query: (sql: string, values?: unknown[]) => Promise<pg.QueryResult>;
  /** What durability rests on, as the server says it. */
  settings: { version: string; fsync: string; synchronousCommit: string };
  /** Another database of the same server, with the hub's tables in it or empty. It goes with the server. */
  another(name: string, isMigrated: boolean): Promise<Pick<BenchDatabase, 'url' | 'query'>>;
  /** CPU that PostgreSQL has used so far; undefined where /proc does not tell. */
  cpuUs(): number | undefined;
  stop(): Promise<void>;
};

/** A migrated PostgreSQL of the bench's own, in a temporary directory, with the settings of the hub's own. */
export const startDatabase = async (signal: AbortSignal): Promise<BenchDatabase> => {
  const log = createLog('warn');
  const dataDir = await mkdtemp(join(tmpdir(), 'baton-bench-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  const onLost = (error: Error) => log.error({ err: error }, 'Lost');
  const postgres = await startEmbeddedPostgres({ dataDir, env: childEnvironment(), log, signal, onLost }).catch(
    async (error) => {
      await removeData();
      throw error;
    },
  );
  const clients: pg.Client[] = [];
  const connect = async (url: string) => {
    const client = new pg.Client(url);
    client.on('error', () => undefined); // the query under way tells it
    clients.push(client);
    await client.connect();
    return client;
  };
  const prepare = async (url: string) => {
    const database = openDatabase(url, log);
    await migrate(database.pool, { directory: 'prisma/migrations', log, signal });
    await database.close();
  };
  const stop = async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    await postgres.stop();
    await removeData();
  };
  try {
    await prepare(postgres.url);
    const client = await connect(postgres.url);
    const { rows } = await client.query(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
         current_setting('synchronous_commit') as "synchronousCommit"`,
    );
    const postmaster = Number.parseInt(readFileSync(join(postgres.dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
    return {
      url: postgres.url,
      query: (sql, values) => client.query(sql, values),
      async another(name, isMigrated) {
        await client.query(`create database ${name} template template0`);
        const url = new URL(postgres.url);
        url.pathname = name;
        if (isMigrated) await prepare(url.href);
        const other = await connect(url.href);
        return { url: url.href, query: (sql, values) => other.query(sql, values) };
      },
      settings: rows[0],
      cpuUs: () => treeTimeUs(postmaster),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
