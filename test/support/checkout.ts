import { cpSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from './directory.ts';

/** A copy of what a contributor edits, with the installed packages of this checkout. */
export const editableCheckout = (): string => {
  const copy = temporaryDirectory();
  for (const name of ['package.json', 'tsconfig.json', 'prisma.config.ts', 'prisma', 'src', 'scripts'])
    cpSync(name, join(copy, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  return copy;
};
