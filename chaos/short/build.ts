import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Builds the hub if its source is newer: a run must not torment yesterday's. */
export const buildIfOld = (): void => {
  const isOld = !existsSync('dist/main.js') || newestMs('src') > statSync('dist/main.js').mtimeMs;
  if (isOld) execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
};

const newestMs = (directory: string): number =>
  Math.max(
    ...readdirSync(directory, { withFileTypes: true }).map((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? newestMs(path) : statSync(path).mtimeMs;
    }),
  );
