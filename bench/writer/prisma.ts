import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Ground } from '../ground.ts';
import { bornSeq, createPrismaStore } from '../peers/prisma-store.ts';
import type { Contender } from './contender.ts';
import { createStreaming } from './stream.ts';

/** The plain stack: nested writes by Prisma into the same tables, one for each command. It knows its seq, as ours does. */
export const openPrisma = (url: string, ground: Ground): Contender => {
  const database = openDatabase(url, createLog('warn'));
  const store = createPrismaStore(database, ground);
  let commits = 0;
  const counted = async <T>(written: Promise<T>): Promise<T> => {
    const result = await written;
    commits += 1;
    return result;
  };
  return createStreaming({
    slots: ground.contexts.length,
    window: 1, // two updates of one task at once would wait for each other, and lose their order
    isCutShort: true,
    begin: (slot) => counted(store.create(ground.contexts[slot] ?? '')),
    chunk: (key, n, text) => counted(store.append(key, bornSeq + n, text)),
    complete: (key, n) => counted(store.complete(key, bornSeq + n)),
    counters: () => ({ commits, missedGroups: 0 }),
    close: database.close,
  });
};
