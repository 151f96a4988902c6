import { spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '../../core/start-error.ts';
import { disownPostmaster, readPassword, readPostmaster, removePostmasterFile, role } from './cluster.ts';
import type { Site } from './data-directory.ts';
import { isAlive, isPostgresOf, tell } from './process.ts';
import { asCommand } from './unprivileged.ts';

// One PostgreSQL server process. It is not a child that dies with us: a killed hub leaves it running, and the next
// hub adopts it. PostgreSQL's own lock on its data directory decides between hubs that start together.

export type Postmaster = { pid: number; wasLaunched: boolean; connection: ReturnType<typeof connectionTo> };

type Options = {
  site: Site;
  /** After a restart the same port, so that pools find it again. */
  port?: number;
  signal: AbortSignal;
  /** Told before it is ready, so that a hub that ends meanwhile can send it home. */
  onLaunch: (pid: number) => void;
};

const host = '127.0.0.1';
const readyWithinMs = 60_000;
const attempts = 5;

/** Finds the server of this cluster, or starts it; resolves when it takes connections. */
export const ensurePostmaster = async ({ site, port: wantedPort, signal, onLaunch }: Options): Promise<Postmaster> => {
  const password = await readPassword(site);
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const running = await findRunning(site);
    const port = running?.port ?? wantedPort ?? (await freePort());
    const pid = running?.pid ?? launch(site, port);
    if (!running) onLaunch(pid);
    const postmaster = { pid, wasLaunched: !running, connection: connectionTo(port, password) };
    try {
      if (await becomesReady(postmaster, signal)) return postmaster;
    } catch (error) {
      if (!running) await stopPostmaster(pid);
      throw error;
    }
    // It ended: another hub's server was first, or another program took the port. Look again.
  }
  throw new StartError(
    `PostgreSQL does not start. It said: ${lastWords(site)}`,
    `Its log is ${site.logFile}. Nothing was lost: the data is as it was.`,
  );
};

/** Stops the server: open work is rolled back and all is written; harder if that takes too long, which loses nothing. */
export const stopPostmaster = async (pid: number): Promise<void> => {
  for (const [signal, patienceMs] of [
    ['SIGINT', 6_000],
    ['SIGQUIT', 1_000],
    ['SIGKILL', 500],
  ] as const) {
    tell(pid, signal);
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 20) {
      if (!isAlive(pid)) return;
      await sleep(20);
    }
  }
};

/** All of it said: what is left out, the driver would take from the environment. */
const connectionTo = (port: number, password: string) => ({
  host,
  port,
  user: role,
  password,
  ssl: false,
  options: '-c synchronous_commit=on',
  connectionTimeoutMillis: 5_000,
});

const findRunning = async (site: Site): Promise<{ pid: number; port: number } | undefined> => {
  for (let tries = 0; tries < 80; tries++) {
    const found = readPostmaster(site);
    if (!found) return undefined;
    const { pid, port } = found;
    if (pid > 0 && !isAlive(pid)) return undefined; // a dead server's file: PostgreSQL clears it away itself
    if (pid > 0 && !isPostgresOf(pid, site.cluster)) {
      disownPostmaster(site);
      return undefined;
    }
    if (pid > 0 && port > 0) return found;
    await sleep(25); // somebody has only begun to write it
  }
  removePostmasterFile(site);
  return undefined;
};

const launch = (site: Site, port: number): number => {
  const settings = {
    listen_addresses: host,
    port,
    unix_socket_directories: '', // their paths are too short for deep directories
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    max_connections: 200,
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'log', // errors of statements go to whoever sent them
    log_checkpoints: 'off',
  };
  const { program, args, identity } = asCommand(site.runner, join(site.binaries, 'bin', 'postgres'), [
    '-D',
    site.cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const output = openSync(site.logFile, 'a', 0o600);
  if (site.runner.kind === 'account') fchownSync(output, site.runner.account.uid, site.runner.account.gid);
  try {
    const stdio = ['ignore', output, output] as ['ignore', number, number];
    const child = spawn(program, args, { cwd: '/', env: site.env, detached: true, stdio, ...identity });
    child.on('error', () => undefined); // told by the missing process number
    child.unref();
    return child.pid ?? 0;
  } finally {
    closeSync(output);
  }
};

const becomesReady = async ({ pid, connection }: Postmaster, signal: AbortSignal): Promise<boolean> => {
  for (const deadline = Date.now() + readyWithinMs; isAlive(pid); await sleep(25)) {
    signal.throwIfAborted();
    if (await answers(connection)) return true;
    if (Date.now() > deadline)
      throw new StartError(
        `PostgreSQL runs as process ${pid} but does not take connections.`,
        'If it is stuck, end that process and start again; its data survives.',
      );
  }
  return false;
};

const notYet = new Set(['ECONNREFUSED', 'ECONNRESET', '57P03']);

const answers = async (connection: Postmaster['connection']): Promise<boolean> => {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if ((code && notYet.has(code)) || /timeout|terminated/i.test(message)) return false;
    throw new StartError(
      `The embedded PostgreSQL refuses its own hub: ${message}.`,
      `The role ${role} and the password in the file baton-password of its data directory must fit.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
      .once('error', reject)
      .listen(0, host, () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
      });
  });

const lastWords = (site: Site): string => {
  try {
    return readFileSync(site.logFile, 'utf8').trim().split('\n').slice(-3).join(' | ') || 'nothing';
  } catch {
    return 'nothing';
  }
};
