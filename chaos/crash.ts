import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// PostgreSQL dies without a word to anybody. Only processes of the run's own cluster are ended: the one that its
// postmaster.pid names, if it works in that directory, and children of that one.

export type Crash = 'backend killed' | 'immediate shutdown';

/** Who keeps the database running brings it back. Returns whether there was anything to end. */
export const crash = (cluster: string, how: Crash): boolean => {
  const postmaster = Number.parseInt(read(join(cluster, 'postmaster.pid')), 10);
  if (!(postmaster > 0) || !read(`/proc/${postmaster}/cmdline`).includes(cluster)) return false;
  if (how === 'immediate shutdown') return end(postmaster, 'SIGQUIT');
  const backends = readdirSync('/proc').filter((pid) => isBackendOf(pid, postmaster));
  const victim = backends.find((pid) => titleOf(pid).includes('SELECT')) ?? backends[0]; // best under a flush
  return victim !== undefined && end(Number(victim), 'SIGKILL'); // then the postmaster ends all others, and recovers
};

const end = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it ended by itself
  }
};

const isBackendOf = (pid: string, postmaster: number): boolean =>
  /^\d+$/.test(pid) && parentOf(pid) === postmaster && titleOf(pid).startsWith('postgres: baton baton ');

const titleOf = (pid: string): string => read(`/proc/${pid}/cmdline`);
const parentOf = (pid: string): number => Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]);

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
