import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import { StartError } from '../core/start-error.ts';

// Is this a PostgreSQL that can keep our promises? Asked once, before anything is written to it.

const patienceMs = 30_000; // for a server that says it is starting up

type Options = { log: Log; signal: AbortSignal };

export const checkServer = async (url: string, options: Options): Promise<void> => {
  const client = await connect(url, options);
  try {
    const { rows } = await client.query(`
      select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
             current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, pg_is_in_recovery() as standby`);
    const { version, name, fsync, commit, standby } = rows[0];
    if (version < 150_000)
      throw new StartError(
        `${where(url)} is PostgreSQL ${name}; the hub needs 15 or later.`,
        'Upgrade it, or point DATABASE_URL at a newer one.',
      );
    if (standby)
      throw new StartError(`${where(url)} is a standby and takes no writes.`, 'Point DATABASE_URL at the primary.');
    for (const [setting, value] of [
      ['fsync', fsync],
      ['synchronous_commit', commit],
    ])
      if (value === 'off')
        throw new StartError(
          `${where(url)} runs with ${setting} = off: it could lose tasks that the hub has acknowledged.`,
          `Set ${setting} = on for this server, database and role, then start again.`,
        );
  } finally {
    await client.end();
  }
};

const connect = async (url: string, { log, signal }: Options): Promise<pg.Client> => {
  const deadline = Date.now() + patienceMs;
  for (let tries = 0; ; tries++) {
    try {
      return await connectOnce(url);
    } catch (error) {
      const isStarting = (error as pg.DatabaseError).code === '57P03';
      if (!isStarting || Date.now() > deadline) throw explain(url, error as Error & { code?: string });
      if (tries === 0) log.info({}, 'PostgreSQL is still starting up; waiting for it');
      await sleep(250, undefined, { signal });
    }
  }
};

const connectOnce = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'baton' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
};

const explain = (url: string, cause: Error & { code?: string }): StartError => {
  const refused = (why: string, remedy: string) => new StartError(`${where(url)} ${why}.`, remedy, { cause });
  switch (cause.code) {
    case '28P01':
      return refused('refuses the password', 'Correct the user and password in DATABASE_URL.');
    case '28000':
      return refused(
        `refuses the connection: ${cause.message}`,
        'Correct the user in DATABASE_URL, or allow it in pg_hba.conf.',
      );
    case '3D000':
      return refused('has no such database', 'Create the database, or correct its name in DATABASE_URL.');
    case '53300':
      return refused('has no connection left', 'Raise max_connections there, or stop what holds them.');
    default:
      return refused(
        `cannot be reached: ${cause.message || cause.code}`,
        'Check that PostgreSQL runs there and that DATABASE_URL names the right host and port.',
      );
  }
};

/** The server as a person would name it, without the password. */
const where = (url: string): string => {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `The database ${pathname.slice(1) || '(default)'} at ${hostname || searchParams.get('host')}:${port || 5432}`;
};
