import { randomUUID } from 'node:crypto';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Contender, Ground } from './contender.ts';
import { createStreaming } from './stream.ts';

/** The plain stack: nested writes by Prisma into the same tables, one for each command. It knows its seq, as ours does. */
export const openPrisma = (url: string, { network, user, agent, contexts }: Ground): Contender => {
  const { prisma, close } = openDatabase(url, createLog('warn'));
  let commits = 0;
  const bornSeq = 3;

  return createStreaming({
    slots: contexts.length,
    window: 1, // two updates of one task at once would wait for each other, and lose their order
    isCutShort: true,
    async begin(slot) {
      const key = randomUUID();
      const at = new Date();
      const line = { actor: 'ada', at };
      const messageId = randomUUID();
      await prisma.task.create({
        data: {
          key,
          id: key,
          networkId: network,
          contextKey: contexts[slot] ?? '',
          userId: user,
          requesterId: user,
          requesterIsAgent: false,
          requesterName: 'ada',
          agentId: agent,
          agentName: 'echo',
          rootKey: key,
          priority: 'NORMAL',
          state: 'WORKING',
          run: 1,
          lastSeq: bornSeq,
          generation: 1,
          delivery: 1,
          deliveryState: 'WORKING',
          lastN: 0,
          rank: 0,
          attempts: 1,
          turnSeq: 0,
          createdAt: at,
          updatedAt: at,
          statusAt: at,
          startedAt: at,
          detail: { create: { metadata: {} } },
          messages: {
            create: {
              seq: 2,
              networkId: network,
              id: messageId,
              author: 'USER',
              authorName: 'ada',
              kind: 'TASK',
              parts: [{ text: 'hello' }],
              metadata: {},
              createdAt: at,
            },
          },
          events: {
            create: [
              { ...line, seq: 1, firstSeq: 1, kind: 'STATUS', to: 'SUBMITTED', payload: [{}] },
              { ...line, seq: 2, firstSeq: 2, kind: 'MESSAGE', payload: [{ message: { id: messageId } }] },
              { ...line, seq: 3, firstSeq: 3, kind: 'STATUS', from: 'SUBMITTED', to: 'WORKING', payload: [{}] },
            ],
          },
        },
        select: { key: true },
      });
      commits += 1;
      return key;
    },
    async chunk(key, n, text) {
      const at = new Date();
      const seq = bornSeq + n;
      const payload = [{ artifactId: 'a', parts: [{ text }], append: true, lastChunk: false }];
      await prisma.task.update({
        where: { key },
        data: {
          lastSeq: seq,
          updatedAt: at,
          events: { create: { seq, firstSeq: seq, kind: 'ARTIFACT', actor: 'echo', at, payload } },
        },
        select: { key: true },
      });
      commits += 1;
    },
    async complete(key, n) {
      const at = new Date();
      const seq = bornSeq + n;
      const line = { seq, firstSeq: seq, actor: 'echo', at, payload: [{}] };
      await prisma.task.update({
        where: { key },
        data: {
          state: 'COMPLETED',
          deliveryState: 'ENDED',
          lastSeq: seq,
          updatedAt: at,
          statusAt: at,
          finishedAt: at,
          events: { create: { ...line, kind: 'STATUS', from: 'WORKING', to: 'COMPLETED' } },
        },
        select: { key: true },
      });
      commits += 1;
    },
    counters: () => ({ commits, missedGroups: 0 }),
    close,
  });
};
