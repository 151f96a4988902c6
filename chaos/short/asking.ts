import { randomUUID } from 'node:crypto';
import type { Random } from '../random.ts';
import type { Invoked, Line } from './record.ts';

// Questions and mutations over HTTP, to any of the servers. An answer that does not come, or that says nothing, is unknown.

type Told = { id: string; state: string; seq: number } | { code: string } | undefined;
export type Ask = (deed: Omit<Invoked, 'at' | 'ms' | 'op'>, document: string, variables: object) => Promise<Told>;

type Options = {
  urls: string[];
  key: string;
  random: Random;
  write: (line: Line) => void;
  onText: (text: string) => void;
};

type Body = { data?: Record<string, Found | null> | null; errors?: { extensions?: { code?: string } }[] };
type Found = { id: string; state: string; seq: number; task?: Found };

const patienceMs = 6_000;

export const createAsk = ({ urls, key, random, write, onText }: Options): Ask => {
  const post = async (query: string, variables: object): Promise<Body> => {
    const url = urls[random.between(0, urls.length - 1)];
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    onText(text);
    return JSON.parse(text);
  };

  return async (deed, document, variables) => {
    const op = deed.kind === 'cancel' ? (variables as { op: string }).op : randomUUID();
    write({ at: 'invoke', ms: Date.now(), op, ...deed });
    const unknown = (why: string): undefined => write({ at: 'unknown', ms: Date.now(), op, why }) as undefined;
    const body = await post(document, variables).catch((error: Error) => String(error.cause ?? error));
    if (typeof body === 'string') return unknown(body);
    const code = body.errors?.[0]?.extensions?.code;
    if (body.errors && (code === undefined || code === 'INTERNAL')) return unknown(code ?? 'no code');
    if (code) {
      write({ at: 'fail', ms: Date.now(), op, code });
      return { code };
    }
    const [answer] = Object.values(body.data ?? {});
    const found = answer?.task ?? answer;
    if (!found) {
      write({ at: 'fail', ms: Date.now(), op, code: 'NULL' });
      return { code: 'NULL' };
    }
    const { id, state, seq } = found;
    write({ at: 'ok', ms: Date.now(), op, task: id, state, seq });
    return { id, state, seq };
  };
};

const told = 'id state seq';
export const documents = {
  send: `mutation Send($input: SendMessageInput!) { sendMessage(input: $input) { ${told} } }`,
  /** The reason names the deed, so that the log tells which one it was. */
  cancel: `mutation Cancel($task: ID!, $op: String!) { cancelTask(id: $task, reason: $op) { task { ${told} } } }`,
  retry: `mutation Retry($task: ID!) { retryTask(id: $task) { ${told} } }`,
  read: `query Read($task: ID!) { task(id: $task) { ${told} } }`,
};
