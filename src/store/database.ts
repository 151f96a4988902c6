import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import { PrismaClient } from '../generated/prisma/client.ts';

export type Database = {
  pool: pg.Pool;
  prisma: PrismaClient;
  /** Throws when the database cannot be asked now. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** One pool for Prisma and for our own statements. It outlives the server it talks to: lost connections are made anew. */
export const openDatabase = (url: string, log: Log): Database => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'baton',
    max: 10,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  pool.on('error', ({ message }) => log.warn({ message }, 'A database connection was lost'));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    pool,
    prisma,
    async ping() {
      await pool.query({ text: 'select 1', query_timeout: 2_000 } as pg.QueryConfig);
    },
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
};
