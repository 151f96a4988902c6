import { constants, existsSync, statSync } from 'node:fs';
import { access, chmod, chown, cp, mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../../core/start-error.ts';
import { findBinaries } from './binaries.ts';
import { type Account, canEnter, findRunner, type Runner } from './unprivileged.ts';

// Where everything of the embedded PostgreSQL is, and who may touch it:
//   <data directory>/postgres       the cluster, with the password of its one role
//   <data directory>/postgres.log   what PostgreSQL says since its last start
//   <data directory>/binaries       only where PostgreSQL runs as an account that cannot reach node_modules

export type Site = { dataDir: string; cluster: string; logFile: string; binaries: string; runner: Runner };

export const prepareSite = async (chosenDataDir: string | undefined): Promise<Site> => {
  const wanted = chosenDataDir ?? resolve('.baton');
  const runner = findRunner(ownerOf(join(wanted, 'postgres')));
  const chosen = chosenDataDir !== undefined;
  const dataDir = await makeWritable(runner.kind === 'account' ? reachable(runner.account, wanted, chosen) : wanted);
  // Another account only passes through here: what lies inside has its own modes.
  await chmod(dataDir, runner.kind === 'account' ? 0o711 : 0o700).catch(() => undefined);

  const cluster = join(dataDir, 'postgres');
  if (runner.kind === 'account' && ownerOf(cluster)?.uid === 0) await giveTo(runner.account, cluster);
  const binaries = runner.kind === 'account' ? await reachableBinaries(runner.account, dataDir) : findBinaries();
  return { dataDir, cluster, logFile: join(dataDir, 'postgres.log'), binaries, runner };
};

/** Hands a tree to the account that PostgreSQL will run as. */
export const giveTo = async ({ uid, gid }: Account, path: string): Promise<void> => {
  await chown(path, uid, gid);
  if (!statSync(path).isDirectory()) return;
  for (const name of await readdir(path)) await giveTo({ uid, gid }, join(path, name));
};

const ownerOf = (path: string): Account | undefined => {
  try {
    return statSync(path);
  } catch {
    return undefined; // not there, or out of reach: making it writable will tell
  }
};

const reachable = (account: Account, wanted: string, chosen: boolean): string => {
  const parent = existingParent(dirname(wanted));
  if (canEnter(account, parent)) return wanted;
  if (!chosen) return '/var/lib/baton';
  throw new StartError(
    `PostgreSQL cannot run as root, and user ${account.uid}, which it would run as, cannot enter ${parent}.`,
    'Set BATON_DATA_DIR to a directory that every user can enter, such as /var/lib/baton, or start the hub as an ordinary user.',
  );
};

const existingParent = (path: string): string => (existsSync(path) ? path : existingParent(dirname(path)));

const makeWritable = async (dataDir: string): Promise<string> => {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(dataDir); // one name for one place: a running server is known by it
  } catch (cause) {
    throw new StartError(
      `The data directory ${dataDir} cannot be written: ${(cause as Error).message}.`,
      'Set BATON_DATA_DIR to a directory that you may write, or give this one to the user that starts the hub.',
      { cause },
    );
  }
};

const reachableBinaries = async (account: Account, dataDir: string): Promise<string> => {
  const installed = findBinaries();
  if (canEnter(account, installed)) return installed;
  const copy = join(dataDir, 'binaries');
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true, force: true });
  return copy;
};
