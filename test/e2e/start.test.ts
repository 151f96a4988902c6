import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { queryOnce } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { graphql, launchHub, refusedHub, startHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

const postmasterOf = (dataDir: string) => {
  const [pid, , , port] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  const password = readFileSync(join(dataDir, 'postgres/baton-password'), 'utf8');
  return { pid: Number(pid), url: `postgres://baton:${password}@127.0.0.1:${port}/baton` };
};
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const killed = async (pid: number) => {
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid), `process ${pid} to be gone`);
};

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
  const env = { BATON_DATA_DIR: temporaryDirectory(), BATON_ADMIN_KEY: 'twenty-four characters!!' };
  const hub = await startHub({ env });
  expect(hub.stdout() + hub.stderr()).not.toContain(env.BATON_ADMIN_KEY);
  const { rowCount } = await queryOnce(
    postmasterOf(env.BATON_DATA_DIR).url,
    'select from api_key where hash = sha256($1::bytea)',
    [env.BATON_ADMIN_KEY],
  );
  expect(rowCount).toBe(1);
});

test('the next hub adopts the PostgreSQL that a killed hub left running', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  const { pid } = postmasterOf(env.BATON_DATA_DIR);
  first.kill('SIGKILL');
  await first.ended;
  expect(isAlive(pid)).toBe(true);

  const second = await startHub({ env });
  expect(postmasterOf(env.BATON_DATA_DIR).pid).toBe(pid);
  second.kill('SIGTERM');
  await second.ended;
  expect(isAlive(pid)).toBe(false);
});

test('data survives the death of everything, and a stale postmaster.pid is no obstacle', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  const { pid, url } = postmasterOf(env.BATON_DATA_DIR);
  await queryOnce(url, "update network set name = 'survived'");
  first.kill('SIGKILL');
  await first.ended;
  await killed(pid);
  expect(existsSync(join(env.BATON_DATA_DIR, 'postgres/postmaster.pid'))).toBe(true);

  await startHub({ env });
  const { rows } = await queryOnce(postmasterOf(env.BATON_DATA_DIR).url, 'select name from network');
  expect(rows).toEqual([{ name: 'survived' }]);
});

test('a stale postmaster.pid whose number now belongs to another program is no obstacle', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  const { pid } = postmasterOf(env.BATON_DATA_DIR);
  first.kill('SIGKILL');
  await first.ended;
  await killed(pid);
  const file = join(env.BATON_DATA_DIR, 'postgres/postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(String(pid), String(process.pid)));

  await startHub({ env });
  expect(postmasterOf(env.BATON_DATA_DIR).pid).not.toBe(process.pid);
});

test('a data directory that a living hub uses is refused, and the living hub goes on', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const living = await startHub({ env });
  const { code, stderr } = await refusedHub({ env });
  expect(code).toBe(1);
  expect(stderr).toContain(`${env.BATON_DATA_DIR} is in use by another hub (hub ${living.process.pid}).`);
  expect(stderr).toContain('Stop that hub first, or set BATON_DATA_DIR');
  expect((await fetch(`${living.url}/readyz`)).status).toBe(200);
});

test('of hubs that start together on a new data directory exactly one serves', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const hubs = [1, 2, 3].map(() => launchHub({ env }));
  const serving = await until(() => hubs.find((hub) => hub.stdout().includes('is ready')), 'a hub to serve');
  const others = hubs.filter((hub) => hub !== serving);
  for (const { code } of await Promise.all(others.map((hub) => hub.ended))) expect(code).toBe(1);
  for (const other of others) expect(other.stderr()).toContain('is in use by another hub');
  expect(serving.process.exitCode).toBeNull();
});

test('when its PostgreSQL dies the hub brings it back, and goes on', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const hub = await startHub({ env });
  const { pid } = postmasterOf(env.BATON_DATA_DIR);
  await killed(pid);
  await until(() => hub.stderr().includes('PostgreSQL is back'), 'PostgreSQL to be back');
  expect(postmasterOf(env.BATON_DATA_DIR).pid).not.toBe(pid);
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
  expect((await fetch(`${hub.url}/livez`)).status).toBe(200);
  expect(hub.process.exitCode).toBeNull();
});
