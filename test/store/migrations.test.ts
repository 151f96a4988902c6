import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate } from '../../src/store/migrations.ts';
import { type TestDatabase, useDatabase } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { askEngine } from '../support/schema-engine.ts';
import { until } from '../support/until.ts';

const real = 'prisma/migrations';
const waiting: string[] = [];
const log = { debug() {}, warn() {}, error() {}, info: (_: object, text: string) => void waiting.push(text) };
const fresh = useDatabase({ empty: true });
const prepared = useDatabase();
const altered = useDatabase();
const broken = useDatabase({ empty: true });
const shared = useDatabase({ empty: true });
const edited = useDatabase();
const newer = useDatabase();
const unfinished = useDatabase();

const migrateOnce = async (
  { url }: TestDatabase,
  directory = real,
  signal = new AbortController().signal,
): Promise<string[]> => {
  const pool = new pg.Pool({ connectionString: url, application_name: 'migrating' });
  pool.on('error', () => undefined);
  try {
    return await migrate(pool, { directory, log, signal });
  } finally {
    await pool.end();
  }
};

/** As a hub does that migrates: the others wait until the returned function is called. */
const holdMigrationLock = async ({ url }: TestDatabase) => {
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query('begin; select pg_advisory_xact_lock(72707369)');
  return () => holder.end();
};

/** The real migrations and these. */
const migrationsWith = async (more: Record<string, string>): Promise<string> => {
  const directory = temporaryDirectory();
  await cp(real, directory, { recursive: true });
  for (const [name, sql] of Object.entries(more)) {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, 'migration.sql'), sql);
  }
  return directory;
};

const tablesOf = async ({ query }: TestDatabase): Promise<string[]> => {
  const { rows } = await query("select tablename from pg_tables where schemaname = 'public' order by 1");
  return rows.map(({ tablename }) => tablename);
};

test('migrations are applied in order, once, and recorded', async () => {
  const directory = await migrationsWith({
    '99990102000000_second': 'insert into first values (1);',
    '99990101000000_first': 'create table first (n int);',
  });
  const names = await migrateOnce(fresh, directory);
  expect(names.slice(-2)).toEqual(['99990101000000_first', '99990102000000_second']);
  expect(await migrateOnce(fresh, directory)).toEqual([]);
  const { rows } = await fresh.query('select migration_name from _prisma_migrations order by started_at');
  expect(rows.map(({ migration_name }) => migration_name)).toEqual(names);
});

test("Prisma's own engine takes our record for its own and finds nothing to apply", async () => {
  expect(await askEngine('applyMissingMigrations', prepared.url, real)).toEqual([]);
  const directory = await migrationsWith({ '99990101000000_more': 'create table more (n int);' });
  expect(await askEngine('applyMissingMigrations', prepared.url, directory)).toEqual(['99990101000000_more']);
  expect(await migrateOnce(prepared, directory)).toEqual([]); // and we take its record for ours
});

test('the migrations and schema.prisma describe the same database', async () => {
  expect(await askEngine('missingMigration', altered.url)).toBeNull();
  await altered.query('alter table network drop column name');
  expect(await askEngine('missingMigration', altered.url)).toMatch(/ADD COLUMN\s+"name"/);
});

test('a failed migration leaves the database as it was, also what was applied before it', async () => {
  const directory = await migrationsWith({
    '99990101000000_fine': 'create table fine (n int);',
    '99990102000000_failing': 'create table half (n int); select 1 / 0;',
  });
  await expect(migrateOnce(broken, directory)).rejects.toThrow(
    'The migration 99990102000000_failing failed: division by zero. Nothing was changed: the database is as it was.',
  );
  expect(await tablesOf(broken)).toEqual([]);
  await migrateOnce(broken);
  expect(await tablesOf(broken)).toContain('network');
});

test('of two that start together one migrates and the other waits for it', async () => {
  const release = await holdMigrationLock(shared);
  const both = [migrateOnce(shared), migrateOnce(shared)];
  await until(() => waiting.filter((text) => text.includes('waiting for it')).length === 2, 'two hubs in line');
  await release();
  const applied = await Promise.all(both);
  expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
});

test('a hub that waits for another one ends when it is told to', async () => {
  const release = await holdMigrationLock(shared);
  const abort = new AbortController();
  const waitingHub = migrateOnce(shared, real, abort.signal);
  abort.abort();
  await expect(waitingHub).rejects.toThrow(/abort/);
  await release();
});

test('a connection that is lost while the hub waits is told, and ends nothing else', async () => {
  const release = await holdMigrationLock(shared);
  waiting.length = 0;
  const waitingHub = migrateOnce(shared);
  const told = expect(waitingHub).rejects.toThrow(
    'The database went away while the hub prepared it. Nothing was changed.',
  );
  await until(() => waiting.length > 0, 'the hub to wait');
  await shared.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'migrating'");
  await told;
  await release();
});

test('a migration that was edited after it was applied stops the start', async () => {
  await edited.query("update _prisma_migrations set checksum = repeat('0', 64)");
  await expect(migrateOnce(edited)).rejects.toThrow(/was changed after the database had applied it/);
});

test('a database of a newer hub is left alone', async () => {
  await migrateOnce(newer, await migrationsWith({ '99990101000000_future': 'create table future (n int);' }));
  await expect(migrateOnce(newer)).rejects.toThrow(
    /prepared by a newer hub: it has the migration 99990101000000_future/,
  );
});

test('a migration that another tool left unfinished stops the start', async () => {
  await unfinished.query('update _prisma_migrations set finished_at = null');
  await expect(migrateOnce(unfinished)).rejects.toThrow(/was begun by another tool and did not finish/);
});
