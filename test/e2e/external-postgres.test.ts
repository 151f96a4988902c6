import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { queryOnce, useDatabase } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { graphql, launchHub, refusedHub, startHub } from '../support/hub.ts';
import { createPostgres, installPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

// DATABASE_URL: somebody else's PostgreSQL.

const empty = useDatabase({ empty: true });
const shared = useDatabase({ empty: true });
const fast = useDatabase();
const poor = useDatabase({ empty: true });

const altered = (url: string, change: Partial<URL>) => Object.assign(new URL(url), change).href;
const refusedBy = async (databaseUrl: string) => {
  const { code, stderr } = await refusedHub({ env: { DATABASE_URL: databaseUrl } });
  expect(code).toBe(1);
  expect(stderr).not.toContain(new URL(databaseUrl).password || 'no password');
  return stderr;
};

test('with DATABASE_URL the hub uses that database and starts none of its own', async () => {
  const cwd = temporaryDirectory();
  const hub = await startHub({ cwd, env: { DATABASE_URL: empty.url } });
  expect(await graphql(hub.url, '{ version }')).toEqual({ data: { version: '0.1.0' } });
  expect((await empty.query('select name from network')).rows).toEqual([{ name: 'default' }]);
  expect(hub.stdout()).toContain('the PostgreSQL that DATABASE_URL names');
  expect(readdirSync(cwd)).toEqual([]);
});

test('two hubs that start at once on one empty database both serve, with one owner and one printed key', async () => {
  const env = { DATABASE_URL: shared.url };
  const hubs = await Promise.all([startHub({ env }), startHub({ env })]);
  for (const { url } of hubs) expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await shared.query('select from "user"')).rowCount).toBe(1);
  expect(
    (await shared.query('select from _prisma_migrations group by migration_name having count(*) > 1')).rowCount,
  ).toBe(0);
  expect(hubs.filter((hub) => hub.stdout().includes('API key'))).toHaveLength(1);
});

test('a wrong password is told', async () => {
  expect(await refusedBy(altered(empty.url, { password: 'guessed' }))).toMatch(
    /^baton: The database test_\w+ at 127.0.0.1:\d+ refuses the password.\n +Correct the user and password in DATABASE_URL/,
  );
});

test('a database that cannot be reached is told', async () => {
  expect(await refusedBy(`postgres://somebody:secret-word@127.0.0.1:${await freePort()}/baton`)).toMatch(
    /^baton: The database baton at 127.0.0.1:\d+ cannot be reached: connect ECONNREFUSED.*\n +Check that PostgreSQL runs there/,
  );
});

test('a host that does not exist is told', async () => {
  expect(await refusedBy('postgres://somebody:secret-word@nowhere.invalid/baton')).toMatch(
    /cannot be reached: .*nowhere.invalid/,
  );
});

test('a database that does not exist is told', async () => {
  expect(await refusedBy(altered(empty.url, { pathname: '/no_such' }))).toMatch(/no_such .* has no such database/);
});

test('a user that may not create tables is told, and nothing is written', async () => {
  await poor.query(
    `do $$ begin create role pauper login password 'penniless'; exception when duplicate_object then end $$`,
  );
  expect(await refusedBy(altered(poor.url, { username: 'pauper', password: 'penniless' }))).toMatch(
    /permission denied for schema public.*Nothing was changed.*\n +Let the user in DATABASE_URL create tables/,
  );
});

test('tables go where Prisma looks, also for a role that has a schema of its own', async () => {
  await poor.query(
    `do $$ begin create role landlord superuser login password 'wealthy'; exception when duplicate_object then end $$`,
  );
  await poor.query('create schema landlord');
  await startHub({ env: { DATABASE_URL: altered(poor.url, { username: 'landlord', password: 'wealthy' }) } });
  const { rows } = await poor.query("select distinct schemaname from pg_tables where tablename = 'network'");
  expect(rows).toEqual([{ schemaname: 'public' }]);
});

test('a user without a connection left, and one that may not log in, are told', async () => {
  await poor.query(
    `do $$ begin create role crowd login password 'crowded' connection limit 0; exception when duplicate_object then end $$`,
  );
  expect(await refusedBy(altered(poor.url, { username: 'crowd', password: 'crowded' }))).toMatch(
    /has no connection left/,
  );
  await poor.query(`alter role crowd nologin`);
  expect(await refusedBy(altered(poor.url, { username: 'crowd', password: 'crowded' }))).toMatch(
    /refuses the connection: role "crowd"/,
  );
});

test('a standby is refused', async () => {
  const postgres = await createPostgres();
  await postgres.stop('SIGINT');
  postgres.becomeStandby();
  await postgres.start();
  expect(await refusedBy(postgres.url)).toMatch(
    /is a standby and takes no writes.\n +Point DATABASE_URL at the primary/,
  );
});

test('a PostgreSQL that says it is starting up is waited for', async () => {
  const postgres = await createPostgres({ settings: ['hot_standby=off'] });
  await postgres.stop('SIGINT');
  postgres.becomeStandby(); // which, so set, takes no connections until it is promoted
  await postgres.start({ isSilent: true });
  const hub = launchHub({ env: { DATABASE_URL: postgres.url } });
  await until(() => hub.stderr().includes('still starting up'), 'the hub to wait');
  postgres.promote();
  await until(() => hub.stdout().includes('is ready'), 'the hub to start');
});

test('a database that forgets what it acknowledged is refused: synchronous_commit', async () => {
  await fast.query(
    `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
  );
  expect(await refusedBy(altered(fast.url, { search: '' }))).toMatch(
    /runs with synchronous_commit = off: it could lose tasks.*\n +Set synchronous_commit = on/,
  );
});

test('a database that forgets what it acknowledged is refused: fsync', async () => {
  const { url } = await createPostgres({ settings: ['fsync=off'] });
  expect(await refusedBy(url)).toMatch(/runs with fsync = off/);
});

test('the hub outlives a restart of PostgreSQL: not ready meanwhile, alive all the time, then ready again', async () => {
  const postgres = await createPostgres();
  const hub = await startHub({ env: { DATABASE_URL: postgres.url } });
  await postgres.stop('SIGQUIT'); // as in a crash: every connection is cut
  const response = await fetch(`${hub.url}/readyz`);
  expect([response.status, await response.json()]).toEqual([
    503,
    { status: 'not ready', problem: 'The database cannot be reached.' },
  ]);
  expect((await fetch(`${hub.url}/livez`)).status).toBe(200);
  await postgres.start();
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
  await queryOnce(postgres.url, 'select from network');
});

test('PostgreSQL 15, 16 and 17 are served, 14 is refused as too old', { timeout: 180_000 }, async () => {
  const binaries = installPostgres(['14.23.0-beta.17', '15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17']);
  for (const [version, path] of Object.entries(binaries)) {
    const { url } = await createPostgres({ binaries: path });
    if (version.startsWith('14.'))
      expect(await refusedBy(url)).toMatch(/is PostgreSQL 14.23; the hub needs 15 or later.\n +Upgrade it/);
    else expect((await fetch(`${(await startHub({ env: { DATABASE_URL: url } })).url}/readyz`)).status).toBe(200);
  }
});
