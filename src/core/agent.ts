import { type Actor, asUser } from './actor.ts';
import { createAgentToken, fingerprint } from './api-key.ts';
import { DomainError } from './domain-error.ts';
import { isRecord } from './json.ts';
import { formatMicros, parseMicros } from './money.ts';

// The agents of a network, as its admins register them.

type Maybe<T> = T | null | undefined;
export type RegisterAgent = {
  name: string;
  url?: Maybe<string>;
  description?: Maybe<string>;
  mode?: Maybe<'SYNC' | 'ASYNC'>;
  skills?: Maybe<readonly LooseSkill[]>;
  capacity?: Maybe<number>;
  timeoutSeconds?: Maybe<number>;
  graceSeconds?: Maybe<number>;
  maxAttempts?: Maybe<number>;
  whenLost?: Maybe<'REQUEUE' | 'FAIL'>;
  card?: unknown;
};
type LooseSkill = {
  id: string;
  name?: Maybe<string>;
  description?: Maybe<string>;
  tags?: Maybe<readonly string[]>;
  examples?: Maybe<readonly string[]>;
  price?: Maybe<string>;
};

type NewAgent = {
  network: string;
  owner: string;
  name: string;
  url: string | null;
  description: string | null;
  mode: 'SYNC' | 'ASYNC';
  capacity: number | null;
  timeoutSeconds: number | null;
  graceSeconds: number | null;
  maxAttempts: number | null;
  whenLost: 'REQUEUE' | 'FAIL';
  card: Record<string, unknown>;
  tokenPrefix: string;
  tokenHash: Uint8Array<ArrayBuffer>;
  skills: { id: string; name: string; description: string; tags: string[]; examples: string[]; price: string }[];
};

export type Agents = { register(actor: Actor, agent: RegisterAgent): Promise<{ id: string; token: string }> };

/** Undefined: a living agent of the network has that name. */
export type AgentStore = { create(agent: NewAgent): Promise<{ id: string } | undefined> };

const ranges = {
  capacity: [1, 10_000],
  timeoutSeconds: [1, 604_800],
  graceSeconds: [0, 86_400],
  maxAttempts: [1, 100],
} as const;

const mostSkills = 100;

export const createAgents = (store: AgentStore): Agents => ({
  async register(actor, input) {
    const user = asUser(actor, 'ADMIN');
    const { name, url, description, mode, whenLost, card } = input;
    if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name) || name.toLowerCase() === 'system')
      throw new DomainError(
        'BAD_INPUT',
        'An agent’s name has 1 to 64 letters, digits, dots, dashes or underscores, begins with a letter or digit, and is not system',
      );
    if (url != null && !/^ws-agent:\/\/[\w.~-]{1,128}$/.test(url))
      throw new DomainError(
        'BAD_INPUT',
        'url must be ws-agent://<routing id>, or absent for an agent that works by GraphQL',
      );
    if (card != null && !isRecord(card)) throw new DomainError('BAD_INPUT', 'card must be an object');
    const token = createAgentToken();
    const { prefix, hash } = fingerprint(token);
    const created = await store.create({
      network: user.network,
      owner: user.id,
      name,
      url: url ?? null,
      description: description ?? null,
      mode: mode ?? 'SYNC',
      capacity: inRange(input, 'capacity'),
      timeoutSeconds: inRange(input, 'timeoutSeconds'),
      graceSeconds: inRange(input, 'graceSeconds'),
      maxAttempts: inRange(input, 'maxAttempts'),
      whenLost: whenLost ?? 'FAIL',
      card: card ?? {},
      tokenPrefix: prefix,
      tokenHash: hash,
      skills: readSkills(input.skills ?? []),
    });
    if (!created) throw new DomainError('CONFLICT', `There is an agent ${name} already`);
    return { id: created.id, token };
  },
});

const inRange = (input: RegisterAgent, name: keyof typeof ranges): number | null => {
  const value = input[name] ?? null;
  const [least, most] = ranges[name];
  if (value !== null && (value < least || value > most))
    throw new DomainError('BAD_INPUT', `${name} is ${value}; it must be from ${least} to ${most}`, {
      expected: [least, most],
      actual: value,
    });
  return value;
};

const readSkills = (skills: readonly LooseSkill[]): NewAgent['skills'] => {
  if (skills.length > mostSkills)
    throw new DomainError('TOO_LARGE', `There are ${skills.length} skills; at most ${mostSkills} are taken`, {
      expected: mostSkills,
      actual: skills.length,
    });
  const ids = skills.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new DomainError('BAD_INPUT', `The skill ${twice} is named twice`);
  return skills.map(({ id, name, description, tags, examples, price }) => {
    if (!/^\P{C}{1,128}$/u.test(id))
      throw new DomainError('BAD_INPUT', 'A skill’s id has 1 to 128 printable characters');
    const micros = parseMicros(price ?? '0');
    if (micros === undefined || micros < 0n)
      throw new DomainError('BAD_INPUT', `The price of ${id} must be a decimal of at most six places, not below 0`);
    return {
      id,
      name: name ?? id,
      description: description ?? '',
      tags: [...(tags ?? [])],
      examples: [...(examples ?? [])],
      price: formatMicros(micros),
    };
  });
};
