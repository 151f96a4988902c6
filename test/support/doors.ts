import type { Answer, useHouse } from './house.ts';

// The same question through each door: HTTP, server-sent events, and graphql-ws.

export type House = ReturnType<typeof useHouse>;
type Question = { query: string; variables?: Record<string, unknown> };
type Door = (house: House, question: Question, key: string | null) => Promise<Answer>;

export const doors = {
  http: (house, { query, variables }, key) => house.ask(query, variables, key),

  async sse(house, { query, variables }, key) {
    for await (const { data } of house.sse(query, variables, key)) if (data) return data;
    throw new Error('The stream ended without an answer');
  },

  async socket(house, question, key) {
    const { client, subscribe } = house.socketClient(key);
    try {
      for await (const answer of subscribe(question)) return answer;
      throw new Error('The operation ended without an answer');
    } catch (error) {
      return refusedBy(error);
    } finally {
      await client.dispose();
    }
  },
} satisfies Record<string, Door>;

export const doorNames = ['http', 'sse', 'socket'] as const satisfies readonly (keyof typeof doors)[];

/** A client throws what an operation was refused with, or how its socket was closed. */
const refusedBy = (error: unknown): Answer => {
  if (Array.isArray(error)) return { data: null, errors: error };
  if (closeCodeOf(error) === 4403)
    return { data: null, errors: [{ message: 'Closed', extensions: { code: 'UNAUTHENTICATED' } }] };
  throw error;
};

export const closeCodeOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined;

/** The first code with which it was refused; undefined: it was not. */
export const codeIn = ({ errors }: Answer): string | undefined => errors?.[0]?.extensions.code;
