import { randomUUID } from 'node:crypto';
import { createWriter } from '../../src/core/writer.ts';
import { createLog } from '../../src/log.ts';
import { openLogStore } from '../../src/store/log-store.ts';
import type { Ground } from '../ground.ts';
import { benchClock, benchReports, benchTask } from './commands.ts';
import type { Contender } from './contender.ts';
import { createStreaming } from './stream.ts';

/** The hub's writer on its own store: what a hub does between the socket of the agent and those of the readers. */
export const openOurs = (url: string, ground: Ground): Contender => {
  const { agent, contexts } = ground;
  let commits = 0;
  let missedGroups = 0;
  const store = openLogStore({ url, log: createLog('warn'), defaultTtlSeconds: 3_600 });
  const writer = createWriter({
    store: {
      ...store,
      flush: async (batch) => {
        const missed = await store.flush(batch);
        commits += 1;
        missedGroups += missed.size;
        return missed;
      },
    },
    clock: benchClock,
    freshVersion: () => Math.floor(Math.random() * 2 ** 47),
    onCommit: () => undefined,
  });
  const holder = { holder: randomUUID(), instance: randomUUID() };
  const reports = (task: string) => benchReports(task, { agent, delivery: 1, holder: holder.holder });

  return createStreaming({
    slots: contexts.length,
    window: 50,
    isCutShort: false,
    async begin(slot) {
      const { key, create } = benchTask({ ground, holder, context: contexts[slot] ?? '' });
      await writer.submit(create);
      return key;
    },
    chunk: (task, n, text) => writer.submit(reports(task).chunk(n, text)),
    complete: (task, n) => writer.submit(reports(task).complete(n)),
    counters: () => ({ commits, missedGroups }),
    async close() {
      await writer.stop();
      await store.close();
    },
  });
};
