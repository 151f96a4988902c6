import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postmasterOf } from '../support/data-directory.ts';
import { queryOnce } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { graphql, refusedHub, startHub } from '../support/hub.ts';
import { built } from '../support/program.ts';

test('one command brings up the hub, its database and its schema, and says where everything is', async () => {
  const cwd = temporaryDirectory();
  const hub = await startHub({ cwd });
  expect(await graphql(hub.url, '{ __typename version }')).toEqual({ data: { __typename: 'Query', version: '0.1.0' } });
  expect((await fetch(`${hub.url}/livez`)).status).toBe(200);
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
  expect(hub.stdout()).toContain(`${hub.url}/graphql`);
  expect(hub.stdout()).toContain(join(cwd, '.baton'));
  expect(hub.stdout()).toMatch(/API key, shown only now: {2}bk_\S{43}\n/);
  const { rows } = await queryOnce(
    postmasterOf(join(cwd, '.baton')).url,
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit",
  );
  expect(rows).toEqual([{ fsync: 'on', commit: 'on' }]);
});

test('its files are closed to others', async () => {
  const dataDir = join(temporaryDirectory(), 'data');
  await startHub({ env: { BATON_DATA_DIR: dataDir } });
  expect(statSync(dataDir).mode & 0o077).toBe(0);
  expect(statSync(join(dataDir, 'postgres/baton-password')).mode & 0o077).toBe(0);
});

test('what the hub stored is there after a stop, and the key is not shown again', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  await queryOnce(postmasterOf(env.BATON_DATA_DIR).url, "update network set name = 'kept'");
  first.kill('SIGTERM');
  expect(await first.ended).toEqual({ code: 0, signal: null });

  const second = await startHub({ env });
  expect(second.stdout()).not.toContain('API key');
  const { rows } = await queryOnce(postmasterOf(env.BATON_DATA_DIR).url, 'select name from network');
  expect(rows).toEqual([{ name: 'kept' }]);
});

test('a key from the settings opens the door and is never printed', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory(), BATON_ADMIN_KEY: 'twenty-four-characters!!' };
  const hub = await startHub({ env });
  expect(hub.stdout() + hub.stderr()).not.toContain(env.BATON_ADMIN_KEY);
  const { rowCount } = await queryOnce(
    postmasterOf(env.BATON_DATA_DIR).url,
    'select from api_key where hash = sha256($1::bytea)',
    [env.BATON_ADMIN_KEY],
  );
  expect(rowCount).toBe(1);
});

test('PostgreSQL keeps what it acknowledged whatever its own file says, and sees no secret of the hub', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory(), BATON_ADMIN_KEY: 'twenty-four-characters!!' };
  const first = await startHub({ env });
  first.kill('SIGTERM');
  await first.ended;
  appendFileSync(join(env.BATON_DATA_DIR, 'postgres/postgresql.conf'), 'fsync = off\nsynchronous_commit = off\n');
  await startHub({ env });
  const { url, pid } = postmasterOf(env.BATON_DATA_DIR);
  const settings = "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit";
  expect((await queryOnce(url, settings)).rows).toEqual([{ fsync: 'on', commit: 'on' }]);
  if (process.platform === 'linux') expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('BATON_');
});

test("the driver's own variables do not reach the embedded PostgreSQL", async () => {
  const env = { PGSSLMODE: 'require', PGOPTIONS: '-c synchronous_commit=off', PGUSER: 'nobody', PGDATABASE: 'none' };
  const hub = await startHub({ env: { ...env, BATON_DATA_DIR: temporaryDirectory() } });
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
});

test.each([
  ['--version', /^\d+\.\d+\.\d+\n$/],
  ['--help', /Usage: baton[\s\S]*BATON_DATA_DIR/],
])('%s tells and starts nothing', async (option, text) => {
  const { code, stdout } = await refusedHub({ command: [...built(), option] });
  expect(code).toBe(0);
  expect(stdout).toMatch(text);
});
