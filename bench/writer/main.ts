import type { Ground } from '../ground.ts';
import type { Contender, ContenderName, Heard, Told } from './contender.ts';
import { openLimit } from './limit.ts';
import { openOurs } from './ours.ts';
import { openPrisma } from './prisma.ts';
import { openStatement } from './statement.ts';
import { openUnnest } from './unnest.ts';

// A contender's process: opened once, then told to run rounds. It ends when nobody talks to it any more.

const open: Record<ContenderName, (url: string, ground: Ground) => Contender | Promise<Contender>> = {
  ours: openOurs,
  prisma: openPrisma,
  statement: openStatement,
  unnest: openUnnest,
  limit: openLimit,
};

let contender: Contender | undefined;
const say = (message: Heard) => void process.send?.(message);

const obey = async (told: Told): Promise<void> => {
  if (told.kind === 'open') {
    contender = await open[told.contender](told.url, told.ground);
    say({ kind: 'opened' });
  } else if (contender) {
    const written = await contender.round(told.plan, (measured) => say({ kind: 'measured', measured }));
    say({ kind: 'done', written });
  }
};

process.on('message', (told: Told) => {
  obey(told).catch((error: Error) => say({ kind: 'failed', message: error.stack ?? error.message }));
});
process.on('disconnect', () => void contender?.close());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined); // whoever started us decides
