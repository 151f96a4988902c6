import { createApiKey, fingerprint } from '../core/api-key.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';

// Somebody must be able to get in. At the first start: a network, its owner, and a key.

const lock = 0x6f776e72; // "ownr": hubs that start together make one owner
const settingsKey = 'BATON_ADMIN_KEY';

type FirstOwner = {
  /** Made now; it is not kept and cannot be shown again. */
  newKey?: string;
  /** The key from the settings was revoked, and stays so. */
  isRevoked?: boolean;
};

/**
 * Makes the first owner if there is none, and sees to it that `adminKey`, when given, opens the door: also later, so
 * that a lost key can be replaced.
 */
export const ensureFirstOwner = (prisma: PrismaClient, adminKey: string | undefined): Promise<FirstOwner> =>
  prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`select pg_advisory_xact_lock(${lock})`;
      const owner = await tx.user.findFirst({ where: { role: 'OWNER' }, orderBy: { id: 'asc' } });
      if (owner && !adminKey) return {};

      const key = adminKey ?? createApiKey();
      const known = await tx.apiKey.findUnique({ where: { hash: fingerprint(key).hash } });
      if (known) return { isRevoked: known.revokedAt !== null };

      const network = { create: { name: 'default' } };
      const data = { name: 'owner', role: 'OWNER', network, account: { create: {} } } as const;
      const { id: userId } = owner ?? (await tx.user.create({ data }));
      await tx.apiKey.updateMany({
        where: { userId, name: settingsKey, revokedAt: null },
        data: { revokedAt: new Date() },
      });
      await tx.apiKey.create({ data: { userId, name: adminKey ? settingsKey : 'first key', ...fingerprint(key) } });
      return adminKey ? {} : { newKey: key };
    },
    { maxWait: 30_000, timeout: 60_000 }, // hubs that start together wait for each other
  );
