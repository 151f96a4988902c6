import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type * as engine from '../../scripts/schema-engine.ts';

/** Asks Prisma's engine in a process of its own: it leaves timers behind. */
export const askEngine = async <Name extends keyof typeof engine>(
  name: Name,
  ...args: Parameters<(typeof engine)[Name]>
): Promise<Awaited<ReturnType<(typeof engine)[Name]>> | null> => {
  const program = `import { ${name} } from './scripts/schema-engine.ts';
    console.log(JSON.stringify(await ${name}(...${JSON.stringify(args)}) ?? null)); process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import=tsx',
    '--input-type=module',
    '-e',
    program,
  ]);
  return JSON.parse(stdout);
};
