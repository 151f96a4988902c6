import type { AgentStore } from '../core/agent.ts';
import type { ApiKeyStore } from '../core/api-key.ts';
import type { NetworkStore } from '../core/network.ts';
import type { UserStore } from '../core/user.ts';
import { isUuid } from '../core/uuid.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';

// What admins configure: networks, users, keys, agents. Seldom written, so Prisma writes it.

type Registry = { agents: AgentStore; apiKeys: ApiKeyStore; networks: NetworkStore; users: UserStore };

export const createRegistry = (prisma: PrismaClient): Registry => {
  const findUser = async (networkId: string, id: string) => {
    if (!isUuid(id)) return undefined;
    return (await prisma.user.findFirst({ where: { id, networkId }, select: { id: true, role: true } })) ?? undefined;
  };
  return {
    agents: {
      create: ({ network, owner, skills, card, ...agent }) =>
        unlessTaken(
          prisma.agent.create({
            data: {
              ...agent,
              networkId: network,
              ownerId: owner,
              card: card as Prisma.InputJsonObject,
              skills: { create: skills.map(({ id, ...skill }) => ({ skillId: id, ...skill })) },
            },
            select: { id: true },
          }),
        ),
    },

    apiKeys: {
      findUser,
      create: (key) => prisma.apiKey.create({ data: key, select: { id: true } }),
      async findKey(networkId, id) {
        if (!isUuid(id)) return undefined;
        const key = await prisma.apiKey.findFirst({
          where: { id, user: { networkId } },
          select: { id: true, userId: true, user: { select: { role: true } } },
        });
        return key ? { id: key.id, userId: key.userId, role: key.user.role } : undefined;
      },
      async revoke(id) {
        await prisma.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
      },
    },

    networks: {
      findFirst: () => prisma.network.findFirstOrThrow({ orderBy: { id: 'asc' }, select: { id: true } }),
      create: ({ name, prefix, hash }) =>
        prisma.network.create({
          data: {
            name,
            users: {
              create: {
                name: 'owner',
                role: 'OWNER',
                apiKeys: { create: { name: 'first key', prefix, hash } },
                account: { create: {} },
              },
            },
          },
          select: { id: true },
        }),
    },

    users: {
      create: ({ network, ...user }) =>
        unlessTaken(
          prisma.user.create({ data: { ...user, networkId: network, account: { create: {} } }, select: { id: true } }),
        ),
      find: findUser,
      async setStatus(id, status) {
        await prisma.user.update({ where: { id }, data: { status } });
      },
    },
  };
};

/** Undefined: a unique name or id is taken. */
const unlessTaken = async <T>(creation: Promise<T>): Promise<T | undefined> => {
  try {
    return await creation;
  } catch (error) {
    if ((error as { code?: string }).code === 'P2002') return undefined;
    throw error;
  }
};
