import { createAgentToken, fingerprint } from '../core/api-key.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';

// The built-in agent of an embedded database. Its token is made anew at every start and never leaves the process.

const mark = { builtIn: true };

/** Undefined: whoever runs the hub has removed it, or has an `echo` of their own. */
export const ensureEchoAgent = async (prisma: PrismaClient): Promise<string | undefined> => {
  const token = createAgentToken();
  const { prefix: tokenPrefix, hash: tokenHash } = fingerprint(token);
  const owner = await prisma.user.findFirstOrThrow({ where: { role: 'OWNER' }, orderBy: { id: 'asc' } });
  const known = await prisma.agent.findFirst({
    where: { networkId: owner.networkId, name: 'echo', card: { equals: mark } },
    orderBy: { id: 'desc' },
  });
  if (known) {
    if (known.removedAt) return undefined;
    await prisma.agent.update({ where: { id: known.id }, data: { tokenPrefix, tokenHash } });
    return token;
  }
  if ((await prisma.agent.count()) > 0 || (await prisma.task.count()) > 0) return undefined;
  await prisma.agent.create({
    data: {
      networkId: owner.networkId,
      ownerId: owner.id,
      name: 'echo',
      url: 'ws-agent://echo',
      description: 'Sends back what it hears, word by word. It comes with the hub.',
      card: mark,
      whenLost: 'REQUEUE', // it forgets everything with the hub it lives in
      graceSeconds: 0,
      tokenPrefix,
      tokenHash,
      skills: { create: { skillId: 'echo', name: 'Echo', description: 'Sends back what it hears.', tags: ['demo'] } },
    },
  });
  return token;
};
