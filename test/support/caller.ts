import { randomUUID } from 'node:crypto';
import type { Answer } from './house.ts';

// Asks a hub that runs in a process of its own.

export type Caller = ReturnType<typeof createCaller>;

export const createCaller = (url: string, key: string) => {
  /** The answer of one root field; throws what was refused. */
  const get = async (query: string, variables: Record<string, unknown> = {}): Promise<Answer['data']> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors: [error] = [] } = (await response.json()) as Answer;
    if (error) throw Object.assign(new Error(error.message), error.extensions);
    return Object.values(data)[0];
  };
  return {
    url,
    key,
    get,
    send: (input: Record<string, unknown>): Promise<Answer['data']> =>
      get('mutation($input: SendMessageInput!) { sendMessage(input: $input) { id state } }', { input }),
    task: (id: string): Promise<Answer['data']> =>
      get('query($id: ID!) { task(id: $id) { state reason result delivery { number state outcome } } }', { id }),
    registerAgent: async (input: Record<string, unknown> = {}): Promise<{ name: string; token: string }> => {
      const name = `agent-${randomUUID().slice(0, 8)}`;
      const { token } = await get(
        'mutation($input: RegisterAgentInput!) { registerAgent(input: $input) { token agent { id } } }',
        { input: { name, url: `ws-agent://${name}`, ...input } },
      );
      return { name, token };
    },
  };
};
