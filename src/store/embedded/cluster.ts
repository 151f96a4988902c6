import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../../core/start-error.ts';
import { giveTo, type Site } from './data-directory.ts';
import { isAlive } from './process.ts';
import { asCommand } from './unprivileged.ts';

const run = promisify(execFile);

export const role = 'baton';

/** Makes the cluster if there is none. It appears whole or not at all: hubs that start together agree on one. */
export const ensureCluster = async (site: Site): Promise<void> => {
  if (existsSync(site.cluster)) return assertOurVersion(site);
  await mkdir(site.making, { recursive: true, mode: 0o711 });
  const workshop = await mkdtemp(join(site.making, `${process.pid}-`));
  try {
    await makeCluster(site, workshop);
    await rename(join(workshop, 'postgres'), site.cluster);
  } catch (error) {
    if (!existsSync(site.cluster)) throw error; // else another hub was first
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
};

/** Removes what hubs that died while making a cluster have left. Those of living hubs are theirs to remove. */
export const removeUnfinished = async ({ making }: Site): Promise<void> => {
  for (const name of await readdir(making).catch(() => []))
    if (!isAlive(Number.parseInt(name, 10))) await rm(join(making, name), { recursive: true, force: true });
};

export const readPassword = async ({ cluster }: Site): Promise<string> => {
  const file = passwordFile(cluster);
  const password = await readFile(file, 'utf8').catch(() => '');
  if (password) return password;
  throw new StartError(
    `The password of the embedded PostgreSQL is missing: ${file} is empty or not there.`,
    'Restore that file from a backup. The data itself is untouched.',
  );
};

/** The process and port of a running PostgreSQL, or of one that died; undefined without such a file. */
export const readPostmaster = (site: Site): { pid: number; port: number } | undefined => {
  try {
    const lines = readFileSync(pidFile(site), 'utf8').split('\n');
    return { pid: Number.parseInt(lines[0] ?? '', 10), port: Number.parseInt(lines[3] ?? '', 10) };
  } catch {
    return undefined;
  }
};

/**
 * Makes a postmaster.pid harmless whose process number now belongs to another program. PostgreSQL ignores a lock that
 * names its own parent, and still looks for living backends in the shared memory the file names: safer than deleting it.
 */
export const disownPostmaster = (site: Site): void => {
  const [, ...rest] = readFileSync(pidFile(site), 'utf8').split('\n');
  writeFileSync(pidFile(site), [process.pid, ...rest].join('\n'));
};

/** A file that a power failure left empty or torn names no process at all. */
export const removePostmasterFile = (site: Site): void => rmSync(pidFile(site), { force: true });

const passwordFile = (cluster: string) => join(cluster, 'baton-password');
const pidFile = (site: Site) => join(site.cluster, 'postmaster.pid');

const makeCluster = async ({ binaries, runner, env }: Site, workshop: string): Promise<void> => {
  const cluster = join(workshop, 'postgres');
  const secret = join(workshop, 'password');
  await writeFile(secret, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (runner.kind === 'account') await giveTo(runner.account, workshop);
  const initdb = asCommand(runner, join(binaries, 'bin', 'initdb'), [
    `--pgdata=${cluster}`,
    `--username=${role}`,
    `--pwfile=${secret}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
  ]);
  await run(initdb.program, initdb.args, { cwd: '/', env, ...initdb.identity }).catch(
    (cause: Error & { stderr?: string }) => {
      throw new StartError(
        `PostgreSQL could not make its data directory: ${(cause.stderr || cause.message).trim()}`,
        'Nothing was written. Mend the cause, or set DATABASE_URL to use a PostgreSQL of your own.',
        { cause },
      );
    },
  );
  await rename(secret, passwordFile(cluster));
  await chmod(cluster, 0o700);
};

const assertOurVersion = ({ cluster }: Site): void => {
  const ours = '18';
  const theirs = readVersion(cluster);
  if (theirs === ours) return;
  throw new StartError(
    theirs
      ? `The data in ${cluster} was written by PostgreSQL ${theirs}; this hub carries PostgreSQL ${ours}.`
      : `${cluster} is not the data of a hub: it has no PG_VERSION.`,
    'Set BATON_DATA_DIR to another directory, or start the version of the hub that wrote it.',
  );
};

const readVersion = (cluster: string): string | undefined => {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return undefined;
  }
};
