import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

// Contenders run as the hub is shipped: bundled with the options of `npm run build`, and not under tsx.

export type Bundle = { file: string; remove(): Promise<void> };

export const bundle = async (entry: string): Promise<Bundle> => {
  const directory = resolve('node_modules/.cache/baton-bench'); // where packages are still found
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${process.pid}.mjs`);
  await build({
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: file,
    logLevel: 'warning',
  });
  return { file, remove: () => rm(file, { force: true }) };
};

export type Child<Told, Heard> = {
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
