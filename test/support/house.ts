import { randomUUID } from 'node:crypto';
import { type Client, createClient, type SubscribePayload } from 'graphql-ws';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from '../../src/config.ts';
import type { Log } from '../../src/core/log.ts';
import { createLog } from '../../src/log.ts';
import { type Server, startServer } from '../../src/server.ts';
import { useDatabase } from './database.ts';

// A whole hub on a database of its own, with real sockets, in this process. Two of them are two processes: see hub.ts.

export type Answer = {
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire; each test knows its own
  data: any;
  errors?: { message: string; path?: unknown[]; extensions: { code: string } & Record<string, unknown> }[];
};

export const useHouse = (env: Record<string, string> = {}, log: Log = createLog('silent')) => {
  const database = useDatabase();
  const ownerKey = `test-key-${randomUUID()}`;
  let server: Server;
  beforeAll(async () => {
    const config = readConfig({ DATABASE_URL: database.url, PORT: '0', BATON_ADMIN_KEY: ownerKey, ...env });
    const signal = new AbortController().signal;
    server = await startServer({ config, log, signal, onLost: () => undefined });
  });
  afterAll(() => server.stop());

  const post = (body: unknown, headers: Record<string, string> = {}, key: string | null = ownerKey) =>
    fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  const ask = async (
    query: string,
    variables: Record<string, unknown> = {},
    key: string | null = ownerKey,
  ): Promise<Answer> => (await (await post({ query, variables }, {}, key)).json()) as Answer;

  /** The answer of one root field; throws what was refused. */
  const get = async (query: string, variables: Record<string, unknown> = {}, key: string | null = ownerKey) => {
    const { data, errors } = await ask(query, variables, key);
    if (errors) throw Object.assign(new Error(errors[0]?.message), errors[0]?.extensions);
    return Object.values(data)[0] as Answer['data'];
  };

  /** The first code with which it was refused; undefined: it was not. */
  const codeOf = async (query: string, variables: Record<string, unknown> = {}, key: string | null = ownerKey) =>
    (await ask(query, variables, key)).errors?.[0]?.extensions.code;

  const registerAgent = async (
    input: Record<string, unknown> = {},
  ): Promise<{ name: string; token: string; id: string }> => {
    const name = `agent-${randomUUID().slice(0, 8)}`;
    const { token, agent } = await get(
      'mutation($input: RegisterAgentInput!) { registerAgent(input: $input) { token agent { id name } } }',
      { input: { name, url: `ws-agent://${name}`, ...input } },
    );
    return { name: agent.name, id: agent.id, token };
  };

  /** A user with a key. */
  const createUser = async (input: Record<string, unknown> = {}): Promise<{ id: string; key: string }> => {
    const { id } = await get('mutation($input: CreateUserInput!) { createUser(input: $input) { id } }', {
      input: { name: `user-${randomUUID().slice(0, 8)}`, ...input },
    });
    const { key } = await get('mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }', {
      input: { userId: id, name: 'test' },
    });
    return { id, key };
  };

  const send = (input: Record<string, unknown>, key: string | null = ownerKey) =>
    get(
      'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id state delivery { number state } context { id } } }',
      { input },
      key,
    );

  return {
    get url() {
      return server.url;
    },
    databaseUrl: database.url,
    query: database.query,
    ownerKey,
    post,
    ask,
    get,
    codeOf,
    send,
    registerAgent,
    createUser,
    socketClient: (key: string | null = ownerKey) => socketClient(server.url, key),
    sse: (query: string, variables?: Record<string, unknown>, key: string | null = ownerKey) =>
      eventStream(server.url, { query, variables: variables ?? {} }, key),
  };
};

/** A graphql-ws client. What a subscription receives is queued, so that nothing is lost. */
const socketClient = (url: string, key: string | null) => {
  const client: Client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: true,
    retryAttempts: 0,
    ...(key !== null && { connectionParams: { authorization: `Bearer ${key}` } }),
  });
  onTestFinished(() => client.dispose());
  return { client, subscribe: (payload: SubscribePayload) => client.iterate(payload) as AsyncIterableIterator<Answer> };
};

/** Server-sent events over HTTP, as `{ event, data }`. */
export async function* eventStream(
  url: string,
  body: SubscribePayload,
  key: string | null,
): AsyncGenerator<{ event: string; data: Answer | undefined }> {
  const gone = new AbortController();
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(key !== null && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      signal: gone.signal,
    });
    let rest = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      rest += chunk;
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) =>
          block
            .split('\n') // not by a pattern: those end lines also at U+2028
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        const [event, data] = [field('event'), field('data')];
        if (event) yield { event, data: data ? JSON.parse(data) : undefined };
      }
    }
  } finally {
    gone.abort();
  }
}
