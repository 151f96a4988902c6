import { randomBytes } from 'node:crypto';
import { type AgentIdentity, type Network, timing } from './world.ts';

/** Two networks, each with two people and two agents, made over the API. */
export const makeNetworks = async (url: string, adminKey: string): Promise<Network[]> =>
  Promise.all(['north', 'south'].map((name) => makeNetwork(url, adminKey, name)));

const makeNetwork = async (url: string, adminKey: string, name: string): Promise<Network> => {
  const { key } = await ask(url, adminKey, `mutation ($name: String!) { createNetwork(name: $name) { key } }`, {
    name,
  });
  const users: Network['users'] = [];
  for (const user of ['ada', 'bob']) users.push(await makeUser(url, key, `${user}-${name}`));
  const agents: AgentIdentity[] = [];
  for (const whenLost of ['REQUEUE', 'FAIL'] as const) agents.push(await makeAgent(url, key, whenLost));
  return { name, canary: `canary-${randomBytes(6).toString('hex')}`, users, agents };
};

const makeUser = async (url: string, ownerKey: string, name: string): Promise<Network['users'][number]> => {
  const { id } = await ask(url, ownerKey, 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
    input: { name },
  });
  const made = await ask(
    url,
    ownerKey,
    'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }',
    {
      input: { name, userId: id },
    },
  );
  return { name, key: made.key };
};

const makeAgent = async (
  url: string,
  ownerKey: string,
  whenLost: AgentIdentity['whenLost'],
): Promise<AgentIdentity> => {
  const name = whenLost === 'FAIL' ? 'beta' : 'alpha';
  const input = {
    name,
    url: `ws-agent://${name}`,
    whenLost,
    graceSeconds: timing.graceSeconds,
    maxAttempts: timing.maxAttempts,
    timeoutSeconds: timing.turnSeconds,
  };
  const document = 'mutation ($input: RegisterAgentInput!) { registerAgent(input: $input) { token agent { id } } }';
  const { token, agent } = await ask(url, ownerKey, document, { input });
  return { id: agent.id, name, token, whenLost };
};

type Made = { id: string; key: string; token: string; agent: { id: string } };

const ask = async (url: string, key: string, query: string, variables: object): Promise<Made> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: Record<string, Made>; errors?: unknown };
  const [made] = Object.values(data ?? {});
  if (!made) throw new Error(`The world could not be made: ${JSON.stringify(errors)}`);
  return made;
};
