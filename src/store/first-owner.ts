import { createApiKey, fingerprint } from '../core/api-key.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';

// Somebody must be able to get in. At the first start: a network, its owner, and a key.

const lock = 0x6f776e72; // "ownr": hubs that start together make one owner
const settingsKey = 'BATON_ADMIN_KEY';

/**
 * Makes the first owner if there is none, and sees to it that `adminKey`, when given, opens the door: also later, so
 * that a lost key can be replaced. Returns a key that was made now; it is not kept and cannot be shown again.
 */
export const ensureFirstOwner = (prisma: PrismaClient, adminKey: string | undefined): Promise<string | undefined> =>
  prisma.$transaction(async (tx) => {
    await tx.$executeRaw`select pg_advisory_xact_lock(${lock})`;
    const owner = await tx.user.findFirst({ where: { role: 'OWNER' }, orderBy: { id: 'asc' } });
    if (owner && !adminKey) return undefined;

    const key = adminKey ?? createApiKey();
    if (await tx.apiKey.findUnique({ where: { hash: fingerprint(key).hash } })) return undefined; // revoked ones stay so
    const { id: userId } =
      owner ??
      (await tx.user.create({ data: { name: 'owner', role: 'OWNER', network: { create: { name: 'default' } } } }));
    await tx.apiKey.updateMany({
      where: { userId, name: settingsKey, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    await tx.apiKey.create({ data: { userId, name: adminKey ? settingsKey : 'first key', ...fingerprint(key) } });
    return adminKey ? undefined : key;
  });
