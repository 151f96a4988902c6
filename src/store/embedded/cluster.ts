import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../../core/start-error.ts';
import { giveTo, type Site } from './data-directory.ts';
import { asCommand } from './unprivileged.ts';

const run = promisify(execFile);

export const role = 'baton';

/** Makes the cluster if there is none. It appears whole or not at all: hubs that start together agree on one. */
export const ensureCluster = async (site: Site): Promise<void> => {
  if (existsSync(site.cluster)) return assertOurVersion(site);
  const workshop = await mkdtemp(join(site.dataDir, 'new-'));
  try {
    await makeCluster(site, workshop);
    await rename(join(workshop, 'postgres'), site.cluster);
  } catch (error) {
    if (!existsSync(site.cluster)) throw error; // else another hub was first, and may have cleared our workshop away
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
};

export const readPassword = (site: Site): Promise<string> => readFile(passwordFile(site.cluster), 'utf8');

/** What a running PostgreSQL, or one that died, has left in postmaster.pid. */
export const readPostmaster = (site: Site): { pid: number; port: number } | undefined => {
  try {
    const lines = readFileSync(pidFile(site), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]) };
  } catch {
    return undefined;
  }
};

/**
 * Makes a postmaster.pid harmless whose process number now belongs to another program. PostgreSQL ignores a lock that
 * names its own parent, and still looks for living backends in the shared memory the file names: safer than deleting it.
 */
export const disownPostmaster = async (site: Site): Promise<void> => {
  const [, ...rest] = (await readFile(pidFile(site), 'utf8')).split('\n');
  await writeFile(pidFile(site), [process.pid, ...rest].join('\n'));
};

const passwordFile = (cluster: string) => join(cluster, 'baton-password');
const pidFile = (site: Site) => join(site.cluster, 'postmaster.pid');

const makeCluster = async ({ binaries, runner }: Site, workshop: string): Promise<void> => {
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
  await run(initdb.program, initdb.args, { cwd: '/', ...initdb.identity }).catch(
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
