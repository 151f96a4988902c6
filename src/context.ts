import type { PrismaClient } from './generated/prisma/client.ts';

/** What a resolver gets. */
export type Context = {
  version: string;
  /** For Pothos alone, which pushes selections down to it. */
  prisma: PrismaClient;
};
