import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import { type EchoAgent, startEchoAgent } from './agent/echo.ts';
import { type Config, childEnvironment } from './config.ts';
import type { Log } from './core/log.ts';
import { openFrontDoor } from './http.ts';
import { openRooms, type Rooms } from './rooms.ts';
import { type Database, openDatabase } from './store/database.ts';
import { ensureEchoAgent } from './store/echo-agent.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './store/embedded/postgres.ts';
import { ensureFirstOwner } from './store/first-owner.ts';
import { migrate } from './store/migrations.ts';
import { checkServer } from './store/server-check.ts';

// Starts everything in order, stops it in reverse.

export type Server = {
  version: string;
  url: string;
  /** Where the embedded database lives; undefined when it is somebody else's. */
  dataDir: string | undefined;
  /** A key that was made at this start: shown now or never. */
  newKey: string | undefined;
  /** The built-in agent is there to be tried. */
  hasEcho: boolean;
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
  let rooms: Rooms | undefined;
  let echo: EchoAgent | undefined;
  let stopped: Promise<unknown> | undefined;
  const door = await openFrontDoor(config);
  const stop = async (): Promise<void> => {
    stopped ??= (async () => {
      await echo?.stop();
      const closed = door.close(drainMs); // first: who is sent away comes back at once, and must find another hub
      await rooms?.leave();
      await closed;
      await rooms?.close();
      await Promise.all([database?.close(), embedded?.stop()]);
    })();
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

    rooms = await openRooms({ url, database, config, version, log });
    door.serve({ ...rooms, origins: config.origins, ping });
    const token = embedded && (await ensureEchoAgent(prisma));
    if (token) echo = startEchoAgent({ url: door.url, token });
    return { version, url: door.url, dataDir: embedded?.dataDir, newKey, hasEcho: token !== undefined, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
