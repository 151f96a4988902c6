import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '../../core/start-error.ts';
import { disownPostmaster, readPassword, readPostmaster, role } from './cluster.ts';
import type { Site } from './data-directory.ts';
import { asCommand } from './unprivileged.ts';

// One PostgreSQL server process. It is not a child that dies with us: a killed hub leaves it running, and the next
// hub adopts it. PostgreSQL's own lock on its data directory decides between hubs that start together.

export type Postmaster = { pid: number; connection: { host: string; port: number; user: string; password: string } };

const host = '127.0.0.1';
const readyWithinMs = 60_000;
const attempts = 5;

/** Finds the server of this cluster, or starts it; resolves when it takes connections. */
export const ensurePostmaster = async (site: Site, preferredPort?: number): Promise<Postmaster> => {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const running = await findRunning(site);
    const port = running?.port || preferredPort || (await freePort());
    const pid = running?.pid ?? launch(site, port);
    const postmaster = { pid, connection: { host, port, user: role, password: await readPassword(site) } };
    if (await becomesReady(postmaster)) return postmaster;
    // It ended: another hub's server was first, or another program took the port. Look again.
  }
  throw new StartError(
    `PostgreSQL does not start. It said: ${lastWords(site)}`,
    `Its log is ${site.logFile}. Nothing was lost: the data is as it was.`,
  );
};

/** Stops the server: waits for open work to roll back and for a clean shutdown; harder if that takes too long. */
export const stopPostmaster = async ({ pid }: Postmaster, patienceMs: number): Promise<void> => {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    tell(pid, signal);
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 20) {
      if (!isAlive(pid)) return;
      await sleep(20);
    }
  }
};

/** Asks for a clean shutdown without waiting for it. */
export const dismissPostmaster = ({ pid }: Postmaster): void => tell(pid, 'SIGINT');

const findRunning = async (site: Site): Promise<{ pid: number; port: number } | undefined> => {
  const found = readPostmaster(site);
  if (!found || !isAlive(found.pid)) return undefined; // a dead server's file: PostgreSQL clears it away itself
  if (!commandOf(found.pid).includes(`-D ${site.cluster} `)) {
    await disownPostmaster(site);
    return undefined;
  }
  if (found.port) return found;
  await sleep(25); // it has only begun to write the file
  return findRunning(site);
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
  try {
    const child = spawn(program, args, { cwd: '/', detached: true, stdio: ['ignore', output, output], ...identity });
    child.on('error', () => undefined); // told by the missing process number
    child.unref();
    return child.pid ?? 0;
  } finally {
    closeSync(output);
  }
};

const becomesReady = async ({ pid, connection }: Postmaster): Promise<boolean> => {
  const deadline = Date.now() + readyWithinMs;
  while (isAlive(pid)) {
    if (await answers(connection)) return true;
    if (Date.now() > deadline)
      throw new StartError(
        `PostgreSQL runs as process ${pid} but does not take connections.`,
        `If it is stuck, end that process and start again; its data survives.`,
      );
    await sleep(25);
  }
  return false;
};

const answers = async (connection: Postmaster['connection']): Promise<boolean> => {
  const client = new pg.Client({ ...connection, database: 'postgres', connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === '28P01')
      throw new StartError(
        'The embedded PostgreSQL refuses the password that was made with it.',
        `Give the role ${role} the password in the file baton-password of its data directory.`,
      );
    return false;
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

const isAlive = (pid: number): boolean => {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const tell = (pid: number, signal: NodeJS.Signals): void => {
  if (isAlive(pid)) process.kill(pid, signal);
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
};

const lastWords = (site: Site): string => {
  try {
    return readFileSync(site.logFile, 'utf8').trim().split('\n').slice(-3).join(' | ') || 'nothing';
  } catch {
    return 'nothing';
  }
};
