import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { graphql, refusedHub, startHub } from '../support/hub.ts';
import { built, privateProgram, reachableProgram } from '../support/program.ts';

// Who starts the hub, and from where. What only root can arrange is skipped for others; CI runs as root.

const isRoot = process.getuid?.() === 0;
const asRoot = test.skipIf(!isRoot);
const nobody = { uid: 65_534, gid: 65_534 };
const nobodysAccountless = { uid: 54_321, gid: 54_321 };
const answers = async (url: string) =>
  expect(await graphql(url, '{ version }')).toEqual({ data: { version: expect.any(String) } });
/** Who runs PostgreSQL there, as seen from outside. */
const postgresUser = (dataDir: string) => {
  const [pid] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  return statSync(`/proc/${pid}`).uid;
};

/** A PATH on which there is no `unshare`: as in containers that forbid user namespaces. */
const pathWithoutNamespaces = () => {
  const directory = temporaryDirectory();
  symlinkSync(process.execPath, join(directory, 'node'));
  return directory;
};

test('the hub starts from any directory', async () => {
  const cwd = join(temporaryDirectory(), 'a directory with spaces, ümlauts and a long name '.repeat(3).trim());
  mkdirSync(cwd);
  await answers((await startHub({ cwd })).url);
});

asRoot('as root, in a private directory of mode 0700', async () => {
  const cwd = temporaryDirectory(0o700);
  const hub = await startHub({ cwd });
  await answers(hub.url);
  expect(postgresUser(join(cwd, '.baton'))).toBe(0); // outside its namespace; inside it PostgreSQL is not root
});

asRoot('as an ordinary user, in a directory that only it may enter', async () => {
  const cwd = temporaryDirectory(0o700);
  chownSync(cwd, nobody.uid, nobody.gid);
  const hub = await startHub({ cwd, command: reachableProgram(), ...nobody });
  await answers(hub.url);
  expect(postgresUser(join(cwd, '.baton'))).toBe(nobody.uid);
});

asRoot('as a user without an account', async () => {
  const cwd = temporaryDirectory(0o700);
  chownSync(cwd, nobodysAccountless.uid, nobodysAccountless.gid);
  await answers((await startHub({ cwd, command: reachableProgram(), ...nobodysAccountless })).url);
});

asRoot('as root on the data of an ordinary user, PostgreSQL runs as that user', async () => {
  const cwd = temporaryDirectory(0o755);
  chownSync(cwd, nobody.uid, nobody.gid);
  const first = await startHub({ cwd, command: reachableProgram(), ...nobody });
  first.kill('SIGTERM');
  await first.ended;
  await answers((await startHub({ cwd })).url);
  expect(postgresUser(join(cwd, '.baton'))).toBe(nobody.uid);
});

asRoot(
  'as root without user namespaces PostgreSQL runs as another account, also on data that root made before',
  async () => {
    const cwd = temporaryDirectory(0o755);
    const first = await startHub({ cwd });
    first.kill('SIGTERM');
    await first.ended;
    const second = await startHub({ cwd, env: { PATH: pathWithoutNamespaces() } });
    await answers(second.url);
    expect(postgresUser(join(cwd, '.baton'))).not.toBe(0);
    expect(second.stdout()).not.toContain('API key'); // the same data
  },
);

asRoot('as root without user namespaces a directory that the other account cannot enter is refused', async () => {
  const dataDir = join(temporaryDirectory(0o700), 'data');
  const { code, stderr } = await refusedHub({ env: { BATON_DATA_DIR: dataDir, PATH: pathWithoutNamespaces() } });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^baton: PostgreSQL cannot run as root, and user \d+, which it would run as, cannot enter .*\n +Set BATON_DATA_DIR/,
  );
});

asRoot('as root without user namespaces binaries that the other account cannot reach are copied', async () => {
  const cwd = temporaryDirectory(0o755);
  const hub = await startHub({ cwd, command: privateProgram(), env: { PATH: pathWithoutNamespaces() } });
  await answers(hub.url);
  expect(postgresUser(join(cwd, '.baton'))).not.toBe(0);
  expect(readdirSync(join(cwd, '.baton/binaries'))).toContain('bin');
});

const ownVarLib = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /var/lib && exec "$@"', 'sh'];
const canMount = isRoot && spawnSync(ownVarLib[0] ?? '', [...ownVarLib.slice(1), 'true']).status === 0;

test.skipIf(!canMount)(
  'as root without user namespaces in a private directory the data goes to /var/lib/baton',
  async () => {
    const cwd = temporaryDirectory(0o700);
    const hub = await startHub({ cwd, command: [...ownVarLib, 'env', `PATH=${pathWithoutNamespaces()}`, ...built()] });
    await answers(hub.url);
    expect(hub.stdout()).toContain('/var/lib/baton');
  },
);

const throughAnotherDoor = (from: string, to: string) => [
  ...['unshare', '--mount', 'sh', '-c', `mount --bind "${from}" "${to}" && exec "$@"`, 'sh', ...built()],
];

test.skipIf(!canMount)('a living hub is known by its data, not by the path to it', async () => {
  const [dataDir, door] = [temporaryDirectory(), temporaryDirectory()];
  const living = await startHub({ env: { BATON_DATA_DIR: dataDir } });
  const before = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
  const { code, stderr } = await refusedHub({
    command: throughAnotherDoor(dataDir, door),
    env: { BATON_DATA_DIR: door },
  });
  expect(code).toBe(1);
  expect(stderr).toContain('is in use by another hub');
  expect(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).toBe(before);
  await answers(living.url);
});
