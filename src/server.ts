import { fileURLToPath } from 'node:url';
import { createYoga } from 'graphql-yoga';
import packageJson from '../package.json' with { type: 'json' };
import { type Config, childEnvironment } from './config.ts';
import type { Context } from './context.ts';
import type { Log } from './core/log.ts';
import { openFrontDoor } from './http.ts';
import { schema } from './schema/index.ts';
import { type Database, openDatabase } from './store/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './store/embedded/postgres.ts';
import { ensureFirstOwner } from './store/first-owner.ts';
import { migrate } from './store/migrations.ts';
import { checkServer } from './store/server-check.ts';

// The composition root: builds every room in order, stops them in reverse.

export type Server = {
  version: string;
  url: string;
  /** Where the embedded database lives; undefined when it is somebody else's. */
  dataDir: string | undefined;
  /** A key that was made at this start: shown now or never. */
  newKey: string | undefined;
  stop(): Promise<void>;
};

type Options = {
  config: Config;
  log: Log;
  /** Ends a start that is under way. */
  signal: AbortSignal;
  onLost: (error: Error) => void;
};

const { version } = packageJson;
const migrations = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const drainMs = 12_000; // with the database's shutdown, within the 20 s we promise

export const startServer = async ({ config, log, signal, onLost }: Options): Promise<Server> => {
  let embedded: EmbeddedPostgres | undefined;
  let database: Database | undefined;
  let stopped: Promise<unknown> | undefined;
  const door = await openFrontDoor(config);
  const stop = async (): Promise<void> => {
    stopped ??= door.close(drainMs).then(() => Promise.all([database?.close(), embedded?.stop()]));
    await stopped;
  };

  try {
    if (!config.databaseUrl)
      embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, env: childEnvironment(), log, signal, onLost });
    const url = config.databaseUrl ?? embedded?.url ?? '';
    await checkServer(url, { log, signal });
    database = openDatabase(url, log);
    const { pool, prisma, ping } = database;
    const applied = await migrate(pool, { directory: migrations, log, signal });
    if (applied.length > 0) log.info({ applied }, 'Database prepared');
    signal.throwIfAborted(); // the last time: a key that is made must be shown
    const { newKey, isRevoked } = await ensureFirstOwner(prisma, config.adminKey);
    if (isRevoked) log.warn({}, 'BATON_ADMIN_KEY names a key that was revoked: it opens no door. Choose another one');

    const graphql = createYoga<Context>({
      schema,
      context: { version, prisma },
      graphqlEndpoint: '/graphql',
      graphiql: false,
      landingPage: false,
      cors: false,
      multipart: false,
      logging: yogaLog(log),
    });
    door.serve({ graphql, ping });
    return { version, url: door.url, dataDir: embedded?.dataDir, newKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const yogaLog = (log: Log) => {
  const at = (level: keyof Log) => (first: unknown) =>
    log[level](
      first instanceof Error ? { err: first } : {},
      first instanceof Error ? 'Unexpected error' : String(first),
    );
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};
