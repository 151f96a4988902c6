import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/store/database.ts';
import type { Ground } from '../ground.ts';

// Nested writes by Prisma into the hub's own tables, one for each command. The caller knows the seq, as the hub does.

export type PrismaStore = {
  /** Returns the task's key. Its log ends at `bornSeq` then. */
  create(context: string): Promise<string>;
  append(key: string, seq: number, text: string): Promise<unknown>;
  complete(key: string, seq: number): Promise<unknown>;
};

export const bornSeq = 3;

export const createPrismaStore = ({ prisma }: Pick<Database, 'prisma'>, ground: Ground): PrismaStore => ({
  async create(context) {
    const { network, user, agent } = ground;
    const key = randomUUID();
    const at = new Date();
    const line = { actor: 'ada', at };
    const messageId = randomUUID();
    await prisma.task.create({
      data: {
        key,
        id: key,
        networkId: network,
        contextKey: context,
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
    return key;
  },

  append(key, seq, text) {
    const at = new Date();
    const payload = [{ artifactId: 'a', parts: [{ text }], append: true, lastChunk: false }];
    return prisma.task.update({
      where: { key },
      data: {
        lastSeq: seq,
        updatedAt: at,
        events: { create: { seq, firstSeq: seq, kind: 'ARTIFACT', actor: 'echo', at, payload } },
      },
      select: { key: true },
    });
  },

  complete(key, seq) {
    const at = new Date();
    const line = { seq, firstSeq: seq, actor: 'echo', at, payload: [{}] };
    return prisma.task.update({
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
  },
});
