import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

// What can be known of a process that is not our child.

export const isAlive = (pid: number): boolean => {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
};

export const tell = (pid: number, signal: NodeJS.Signals): void => {
  try {
    if (isAlive(pid)) process.kill(pid, signal);
  } catch {
    // it ended between the two
  }
};

/** Whether it is the PostgreSQL of this cluster: it works in that directory, by whatever path it came there. */
export const isPostgresOf = (pid: number, cluster: string): boolean => {
  try {
    const [itsDirectory, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    return itsDirectory.ino === ours.ino && itsDirectory.dev === ours.dev && commandOf(pid).includes('postgres');
  } catch {
    return commandOf(pid).includes(`-D ${cluster} `);
  }
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
};

/** Dead, but its parent has not taken notice: in containers the first process often never does. */
const isZombie = (pid: number): boolean => {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
