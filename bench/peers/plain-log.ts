import { randomUUID } from 'node:crypto';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Ground } from '../ground.ts';
import { bornSeq, createPrismaStore } from './prisma-store.ts';

// Where the plain stack keeps its events: in PostgreSQL by Prisma, or in memory where only delivery is measured.

export type PlainEvent =
  | { kind: 'STATUS'; seq: number; to: string }
  | { kind: 'ARTIFACT'; seq: number; parts: { text: string }[] };

export type PlainLog = {
  create(context: string): Promise<{ id: string; seq: number }>;
  append(id: string, seq: number, text: string): Promise<unknown>;
  complete(id: string, seq: number): Promise<unknown>;
  read(id: string): Promise<PlainEvent[]>;
  close(): Promise<void>;
};

export const openPrismaLog = (url: string, ground: Ground): PlainLog => {
  const database = openDatabase(url, createLog('warn'));
  const store = createPrismaStore(database, ground);
  return {
    ...store,
    create: async (context) => ({ id: await store.create(context), seq: bornSeq }),
    async read(id) {
      const rows = await database.prisma.event.findMany({ where: { taskKey: id }, orderBy: { seq: 'asc' } });
      return rows.flatMap(({ kind, seq, to, payload }): PlainEvent[] => {
        if (kind === 'STATUS') return [{ kind, seq, to: to ?? '' }];
        const [line] = payload as { parts: { text: string }[] }[];
        return kind === 'ARTIFACT' && line ? [{ kind, seq, parts: line.parts }] : [];
      });
    },
    close: database.close,
  };
};

export const openMemoryLog = (): PlainLog => {
  const logs = new Map<string, PlainEvent[]>();
  const add = async (id: string, event: PlainEvent): Promise<void> => void logs.get(id)?.push(event);
  return {
    async create() {
      const id = randomUUID();
      logs.set(id, [{ kind: 'STATUS', seq: 1, to: 'WORKING' }]);
      return { id, seq: 1 };
    },
    append: (id, seq, text) => add(id, { kind: 'ARTIFACT', seq, parts: [{ text }] }),
    complete: (id, seq) => add(id, { kind: 'STATUS', seq, to: 'COMPLETED' }),
    read: async (id) => [...(logs.get(id) ?? [])],
    close: async () => undefined,
  };
};
