import { constants, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { access, chmod, lchown, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../../core/start-error.ts';
import { findBinaries, reachableBinaries } from './binaries.ts';
import { type Account, canEnter, findRunner, type Runner } from './unprivileged.ts';

// Where everything of the embedded PostgreSQL is, and who may touch it:
//   <data directory>/postgres       the cluster, with the password of its one role
//   <data directory>/postgres.log   what PostgreSQL says
//   <data directory>/making         clusters that are not finished
//   <data directory>/binaries       only where PostgreSQL runs as an account that cannot reach node_modules

export type Site = {
  dataDir: string;
  cluster: string;
  logFile: string;
  making: string;
  binaries: string;
  runner: Runner;
  /** What PostgreSQL gets to see of the hub's environment: no secrets. */
  env: Record<string, string | undefined>;
};

type Options = { dataDir: string | undefined; env: Site['env'] };

export const prepareSite = async ({ dataDir: chosen, env }: Options): Promise<Site> => {
  const wanted = chosen ?? resolve('.baton');
  const runner = findRunner(ownerOf(join(wanted, 'postgres')), env);
  const place = runner.kind === 'account' ? reachable(runner.account, wanted, chosen !== undefined) : wanted;
  const dataDir = await makeWritable(place);
  const cluster = join(dataDir, 'postgres');
  if (runner.kind === 'account') await openTo(runner.account, dataDir, cluster);
  return {
    dataDir,
    cluster,
    logFile: join(dataDir, 'postgres.log'),
    making: join(dataDir, 'making'),
    binaries: runner.kind === 'account' ? await reachableBinaries(runner.account, dataDir) : findBinaries(),
    runner,
    env,
  };
};

/** Hands a tree to the account that PostgreSQL will run as: what is inside first, and no links followed. */
export const giveTo = async ({ uid, gid }: Account, path: string): Promise<void> => {
  if (lstatSync(path).isDirectory())
    for (const name of await readdir(path)) await giveTo({ uid, gid }, join(path, name));
  await lchown(path, uid, gid);
};

const ownerOf = (path: string): Account | undefined => {
  try {
    return lstatSync(path);
  } catch {
    return undefined; // not there, or out of reach: making it writable will tell
  }
};

const reachable = (account: Account, wanted: string, isChosen: boolean): string => {
  const parent = existingParent(dirname(wanted));
  if (canEnter(account, parent)) return wanted;
  if (!isChosen) return '/var/lib/baton';
  throw new StartError(
    `PostgreSQL cannot run as root, and user ${account.uid}, which it would run as, cannot enter ${parent}.`,
    'Set BATON_DATA_DIR to a directory that every user can enter, such as /var/lib/baton, or start the hub as an ordinary user.',
  );
};

const existingParent = (path: string): string => (existsSync(path) ? path : existingParent(dirname(path)));

const makeWritable = async (dataDir: string): Promise<string> => {
  try {
    make(dataDir, 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(dataDir); // one name for one place
  } catch (cause) {
    throw new StartError(
      `The data directory ${dataDir} cannot be written: ${(cause as Error).message}.`,
      'Set BATON_DATA_DIR to a directory that you may write, or give this one to the user that starts the hub.',
      { cause },
    );
  }
};

/** Not the recursive option of mkdir: on file systems that refuse new directories it never ends. */
const make = (directory: string, mode: number): void => {
  if (isDirectory(directory)) return;
  if (!existsSync(directory)) make(dirname(directory), 0o755);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (!isDirectory(directory)) throw error; // else a hub beside us made it
  }
};

const isDirectory = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** The other account passes through the data directory; what lies inside keeps its own modes. */
const openTo = async (account: Account, dataDir: string, cluster: string): Promise<void> => {
  const isOurs = existsSync(join(cluster, 'baton-password')) || (await readdir(dataDir)).length === 0;
  if (isOurs && !canEnter(account, dataDir)) await chmod(dataDir, 0o711);
  if (ownerOf(cluster)?.uid === 0) await giveTo(account, cluster);
};
