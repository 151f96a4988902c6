import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../core/log.ts';
import { StartError } from '../core/start-error.ts';

// Applies prisma/migrations in order, once, all or nothing, and records them as Prisma does, so that its tools agree.

const prismaLock = 72_707_369; // the number `prisma migrate` locks too

type Migration = { name: string; sql: string; checksum: string };
type Applied = { migration_name: string; checksum: string; finished_at: Date | null };

type Options = { directory: string; log: Log; signal: AbortSignal };

/** Returns the names of the migrations that were applied now. */
export const migrate = async (pool: pg.Pool, { directory, log, signal }: Options): Promise<string[]> => {
  const migrations = await readMigrations(directory);
  const client = await pool.connect();
  const onError = () => undefined; // the statement under way tells it
  client.on('error', onError);
  try {
    await client.query('begin; set local search_path to public'); // where Prisma looks
    await waitForOthers(client, { log, signal });
    const pending = findPending(migrations, await readApplied(client));
    for (const migration of pending) await apply(client, migration);
    await client.query('commit');
    return pending.map(({ name }) => name);
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw isLost(error) ? connectionLost(error) : error;
  } finally {
    client.off('error', onError);
    client.release();
  }
};

export const readMigrations = async (directory: string): Promise<Migration[]> => {
  const folders = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const names = folders.map(({ name }) => name).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
};

const waitForOthers = async (client: pg.PoolClient, { log, signal }: Omit<Options, 'directory'>): Promise<void> => {
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query('select pg_try_advisory_xact_lock($1) as taken', [prismaLock]);
    if (rows[0].taken) return;
    if (tries === 0) log.info({}, 'Another hub is preparing the database; waiting for it');
    await sleep(100, undefined, { signal });
  }
};

const isLost = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof StartError) && /terminat|connection/i.test(error.message);

const connectionLost = (cause: unknown): StartError =>
  new StartError(
    'The database went away while the hub prepared it. Nothing was changed.',
    'Start again when PostgreSQL is back.',
    { cause },
  );

const readApplied = async (client: pg.PoolClient): Promise<Applied[]> => {
  const { rows } = await client.query("select to_regclass('_prisma_migrations') is not null as exists");
  if (!rows[0].exists) return [];
  const applied = await client.query<Applied>(
    'select migration_name, checksum, finished_at from _prisma_migrations where rolled_back_at is null order by started_at',
  );
  return applied.rows;
};

const findPending = (migrations: Migration[], applied: Applied[]): Migration[] => {
  for (const { migration_name: name, checksum, finished_at } of applied) {
    const known = migrations.find((migration) => migration.name === name);
    if (!known)
      throw new StartError(
        `The database was prepared by a newer hub: it has the migration ${name}, which this one does not know.`,
        'Start that version or a newer one. Nothing was changed.',
      );
    if (!finished_at)
      throw new StartError(
        `The migration ${name} was begun by another tool and did not finish.`,
        'Settle it with `npx prisma migrate resolve`, then start again. Nothing was changed.',
      );
    if (known.checksum !== checksum)
      throw new StartError(
        `The migration ${name} was changed after the database had applied it.`,
        'Restore the file as it was and put the change into a new migration. Nothing was changed.',
      );
  }
  return migrations.filter(({ name }) => !applied.some(({ migration_name }) => migration_name === name));
};

const apply = async (client: pg.PoolClient, { name, sql, checksum }: Migration): Promise<void> => {
  try {
    await client.query(journal);
    await client.query(sql);
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
  } catch (cause) {
    const { code, message } = cause as pg.DatabaseError;
    throw new StartError(
      `The migration ${name} failed: ${message}. Nothing was changed: the database is as it was.`,
      code === '42501'
        ? 'Let the user in DATABASE_URL create tables in this database: GRANT CREATE ON SCHEMA public TO …'
        : 'Mend what it stumbles over and start again, or start the version that ran before.',
      { cause },
    );
  }
};

const journal = `
  create table if not exists _prisma_migrations (
    id                  varchar(36) primary key not null,
    checksum            varchar(64) not null,
    finished_at         timestamptz,
    migration_name      varchar(255) not null,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`;
