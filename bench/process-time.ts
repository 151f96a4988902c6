import { existsSync, readdirSync, readFileSync } from 'node:fs';

const tickUs = 10_000; // USER_HZ is 100 on every Linux that Node runs on

/** CPU time of a process and its children, those that ended included; undefined where there is no /proc. */
export const treeTimeUs = (root: number): number | undefined => {
  if (!existsSync('/proc/self/stat')) return undefined;
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    if (stat?.pid === root) ticks += stat.own + stat.ofEnded;
    else if (stat?.parent === root) ticks += stat.own;
  }
  return ticks * tickUs;
};

const readStat = (pid: number) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from the third field of proc(5) on
    const at = (field: number) => Number(fields[field - 3]);
    return { pid, parent: at(4), own: at(14) + at(15), ofEnded: at(16) + at(17) };
  } catch {
    return undefined; // it ended meanwhile
  }
};
