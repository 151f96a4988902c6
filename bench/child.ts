import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

// Contenders run as the hub is shipped: bundled with the options of `npm run build`, and not under tsx.

export type Bundle = { file: string; remove(): Promise<void> };

const shipped = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
} as const;

export const bundle = async (entry: string): Promise<Bundle> => {
  const directory = resolve('node_modules/.cache/baton-bench'); // where packages are still found
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${process.pid}-${relative('.', entry).replaceAll(/\W/g, '-')}.mjs`);
  await build({ ...shipped, entryPoints: [entry], outfile: file });
  return { file, remove: () => rm(file, { force: true }) };
};

/** The hub itself, as `npm run build` makes it: what is measured is what is in the sources now. */
export const buildHub = async (): Promise<string> => {
  await build({ ...shipped, entryPoints: ['src/main.ts'], sourcemap: true, outdir: 'dist' });
  return resolve('dist/main.js');
};

export type Child<Told, Heard> = {
  pid: number;
  tell(message: Told): void;
  hear(): Promise<Heard>;
  /** Lets it end by itself; ends it if it does not. */
  stop(): Promise<void>;
};

/** A process that is talked to in turn. What it says is queued, so nothing is lost; when it ends, who listens is told. */
export const startChild = <Told extends object, Heard>(file: string): Child<Told, Heard> => {
  const child: ChildProcess = fork(file, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const heard: Heard[] = [];
  let listener: { resolve(message: Heard): void; reject(error: Error): void } | undefined;
  let hasEnded = false;
  const ended = once(child, 'exit').then(() => {
    hasEnded = true;
    listener?.reject(new Error('A contender ended before its time'));
  });
  child.on('message', (message) => {
    if (!listener) heard.push(message as Heard);
    listener?.resolve(message as Heard);
    listener = undefined;
  });
  return {
    pid: child.pid ?? 0,
    tell: (message) => void child.send(message, () => undefined),
    hear: () =>
      new Promise((resolve, reject) => {
        const message = heard.shift();
        if (message !== undefined) resolve(message);
        else if (hasEnded) reject(new Error('A contender has ended'));
        else listener = { resolve, reject };
      }),
    async stop() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
};

type Saying = { kind: string };

/** What a child says next, if it is what is due. */
export const expectOf = async <Heard extends Saying, Kind extends Heard['kind']>(
  child: Pick<Child<never, Heard>, 'hear'>,
  kind: Kind,
): Promise<Extract<Heard, { kind: Kind }>> => {
  const heard = await child.hear();
  if (heard.kind === 'failed')
    throw new Error(`A contender failed: ${'message' in heard ? heard.message : 'it does not say why'}`);
  if (heard.kind !== kind) throw new Error(`A contender said ${heard.kind} where ${kind} was due`);
  return heard as Extract<Heard, { kind: Kind }>;
};
