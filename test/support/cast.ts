import { randomUUID } from 'node:crypto';
import type { House } from './doors.ts';

// Everybody who may ask, and the tasks they ask about.

export type Who =
  | 'nobody'
  | 'viewer'
  | 'member'
  | 'otherMember'
  | 'admin'
  | 'owner'
  /** Does the tasks. */
  | 'agent'
  | 'otherAgent'
  /** A member and an admin who may not start anything now. */
  | 'suspended'
  | 'suspendedAdmin'
  /** An owner's key that may only read. */
  | 'reader';

export const createCast = async (house: House) => {
  const userOf = async (input: Record<string, unknown>) => house.createUser(input);
  const people = {
    viewer: await userOf({ role: 'VIEWER', name: 'viewer' }),
    member: await userOf({ name: 'member' }),
    otherMember: await userOf({ name: 'other member' }),
    admin: await userOf({ role: 'ADMIN', name: 'admin' }),
    owner: await userOf({ role: 'OWNER', name: 'second owner' }),
    suspended: await userOf({ name: 'suspended' }),
    suspendedAdmin: await userOf({ role: 'ADMIN', name: 'suspended admin', status: 'SUSPENDED' }),
  };
  const { key: reader } = await house.get(
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }',
    { input: { name: 'reader', scopes: ['read'] } },
  );
  const [agent, otherAgent] = [
    await house.registerAgent({ url: null }),
    await house.registerAgent({ url: null, skills: [{ id: 'paint', price: '1.5' }] }),
  ];
  const keys: Record<Who, string | null> = {
    nobody: null,
    reader,
    agent: agent.token,
    otherAgent: otherAgent.token,
    viewer: people.viewer.key,
    member: people.member.key,
    otherMember: people.otherMember.key,
    admin: people.admin.key,
    owner: people.owner.key,
    suspended: people.suspended.key,
    suspendedAdmin: people.suspendedAdmin.key,
  };
  const setStatus = (status: string) =>
    house.query('update "user" set status = $2::user_status where id = $1', [people.suspended.id, status]);

  /** A task that waits: the member's, or the suspended one's from when it was not. */
  const task = async (who: Who = 'member'): Promise<{ id: string; contextId: string }> => {
    const input = { agent: agent.name, text: 'do it', contextId: randomUUID() };
    if (who === 'suspended') await setStatus('ACTIVE');
    const { id } = await house.send(input, who === 'suspended' ? people.suspended.key : people.member.key);
    if (who === 'suspended') await setStatus('SUSPENDED');
    return { id, contextId: input.contextId };
  };
  /** A task that its agent has taken. */
  const taken = async (who?: Who) => {
    const made = await task(who);
    await house.get('mutation($id: ID!) { ackTask(id: $id, delivery: 1) { id } }', { id: made.id }, agent.token);
    return made;
  };
  /** A task that failed. */
  const failed = async (who?: Who) => {
    const made = await taken(who);
    await house.get(
      'mutation($id: ID!) { reportStatus(input: { taskId: $id, delivery: 1, state: FAILED }) { id } }',
      { id: made.id },
      agent.token,
    );
    return made;
  };
  return { keys, people, agent, otherAgent, task, taken, failed };
};

export type Cast = Awaited<ReturnType<typeof createCast>>;
