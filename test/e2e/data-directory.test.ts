import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { postmasterOf } from '../support/data-directory.ts';
import { queryOnce } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { launchHub, refusedHub, startHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

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

// Whose data directory is it, and what of the former owner is left there?

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
  expect(existsSync(join(env.BATON_DATA_DIR, 'postgres/postmaster.pid'))).toBe(false);
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

test.each([0, 150, 450])(
  'of hubs that start %i ms apart on a new data directory exactly one serves',
  async (apartMs) => {
    const env = { BATON_DATA_DIR: temporaryDirectory() };
    const hubs: ReturnType<typeof launchHub>[] = [];
    for (let hub = 1; hub <= 4; hub++) {
      hubs.push(launchHub({ env }));
      await sleep(apartMs); // the race itself: one makes its cluster while another has just taken the place
    }
    const serving = await until(() => hubs.find((hub) => hub.stdout().includes('is ready')), 'a hub to serve');
    const others = hubs.filter((hub) => hub !== serving);
    for (const { code } of await Promise.all(others.map((hub) => hub.ended))) expect(code).toBe(1);
    for (const other of others) expect(other.stderr()).toContain('is in use by another hub');
    expect(serving.process.exitCode).toBeNull();
  },
);

test('what dead hubs left unfinished is removed, what is of others is not', async () => {
  const dataDir = temporaryDirectory(0o755);
  for (const name of ['making/999999999-dead', `making/${process.pid}-living`, 'new-photos'])
    mkdirSync(join(dataDir, name), { recursive: true });
  await startHub({ env: { BATON_DATA_DIR: dataDir } });
  expect(readdirSync(join(dataDir, 'making'))).toEqual([`${process.pid}-living`]);
  expect(readdirSync(dataDir)).toContain('new-photos');
  expect(statSync(dataDir).mode & 0o777).toBe(0o755); // it was there before
});

test.each(['', 'garbage\n'])('a postmaster.pid torn by a power failure (%j) is no obstacle', async (text) => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  first.kill('SIGTERM');
  await first.ended;
  writeFileSync(join(env.BATON_DATA_DIR, 'postgres/postmaster.pid'), text);
  await startHub({ env });
});

test('a missing password is told, and no PostgreSQL is left running', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  first.kill('SIGTERM');
  await first.ended;
  rmSync(join(env.BATON_DATA_DIR, 'postgres/baton-password'));
  const { code, stderr } = await refusedHub({ env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^baton: The password of the embedded PostgreSQL is missing: .*\n +Restore that file/);
  expect(existsSync(join(env.BATON_DATA_DIR, 'postgres/postmaster.pid'))).toBe(false);
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
