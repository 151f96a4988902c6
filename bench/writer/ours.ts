import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/core/decide.ts';
import { createWriter } from '../../src/core/writer.ts';
import { createLog } from '../../src/log.ts';
import { openLogStore } from '../../src/store/log-store.ts';
import type { Ground } from '../ground.ts';
import type { Contender } from './contender.ts';
import { createStreaming } from './stream.ts';

/** The hub's writer on its own store: what a hub does between the socket of the agent and those of the readers. */
export const openOurs = (url: string, { network, user, agent, contexts }: Ground): Contender => {
  let commits = 0;
  let missedGroups = 0;
  const store = openLogStore({ url, log: createLog('warn'), defaultTtlSeconds: 3_600 });
  const clock = (): Clock => ({ nowMs: Date.now(), newId: randomUUID, placeSeconds: 15, inputSeconds: 604_800 });
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
    clock,
    freshVersion: () => Math.floor(Math.random() * 2 ** 47),
    onCommit: () => undefined,
  });
  const executor = {
    id: agent,
    name: 'echo',
    isAsync: false,
    whenLost: 'FAIL',
    maxAttempts: 3,
    graceSeconds: 30,
    turnSeconds: 1_800,
    capacity: null,
  } as const;
  const [holder, instance] = [randomUUID(), randomUUID()];
  const fence = { agent, delivery: 1, holder };

  return createStreaming({
    slots: contexts.length,
    window: 50,
    isCutShort: false,
    async begin(slot) {
      const key = randomUUID();
      await writer.submit({
        kind: 'create',
        task: key,
        created: {
          key,
          id: key,
          network,
          context: contexts[slot] ?? '',
          contextId: contexts[slot] ?? '',
          root: key,
          parent: null,
          depth: 0,
          user,
          requester: { id: user, isAgent: false, name: 'ada' },
          executor,
          skill: null,
          priority: 'NORMAL',
          ttlSeconds: null,
          timeoutSeconds: null,
          hold: null,
          metadata: {},
        },
        message: {
          id: randomUUID(),
          author: 'USER',
          authorName: 'ada',
          kind: 'TASK',
          parts: [{ text: 'hello' }],
          inReplyTo: null,
          metadata: {},
        },
        taker: { holder, instance },
      });
      return key;
    },
    chunk: (task, n, text) =>
      writer.submit({
        kind: 'artifact',
        task,
        fence,
        n,
        chunk: { artifactId: 'a', parts: [{ text }], append: true, lastChunk: false },
      }),
    complete: (task, n) => writer.submit({ kind: 'complete', task, fence, n }),
    counters: () => ({ commits, missedGroups }),
    async close() {
      await writer.stop();
      await store.close();
    },
  });
};
