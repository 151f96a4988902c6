import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type EventCopy, eventFields } from './copy.ts';

// The two ways to follow a task. Each ends in one of three ways, and only the hub says that a stream is complete.

type End = { at: 'complete' } | { at: 'refused'; code: string } | { at: 'broken' };
type Listener = { onEvent: (event: EventCopy) => void; onText: (text: string) => void; signal: AbortSignal };
export type Follow = (variables: { task: string; after: number }, listener: Listener) => Promise<End>;

const query = `subscription Follow($task: ID!, $after: Int!) { taskEvents(taskId: $task, after: $after) { ${eventFields} } }`;
const silentMs = 16_000; // an event stream says something every 12 s
const pongMs = 4_000;

type Result = { data?: { taskEvents: EventCopy } | null; errors?: readonly { extensions?: { code?: string } }[] };

/** Undefined: it was an event. */
const take = ({ data, errors }: Result, { onEvent, onText }: Listener): End | undefined => {
  if (errors) return endOf(errors[0]?.extensions?.code);
  onText(JSON.stringify(data));
  if (data) onEvent(data.taskEvents);
  return undefined;
};

/** What went wrong inside is tried again, as if the connection had broken. */
const endOf = (code: string | undefined): End =>
  code === undefined || code === 'INTERNAL' ? { at: 'broken' } : { at: 'refused', code };

/** Over one shared socket, which comes back at another server. It notices by itself when nobody is there any more. */
export const createSocketFollow = (nextUrl: () => string, key: string): { follow: Follow; close(): void } => {
  let socket: WebSocket | undefined;
  let waiting: NodeJS.Timeout | undefined;
  const client: Client = createClient({
    url: () => `${nextUrl().replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${key}` },
    retryAttempts: 0,
    connectionAckWaitTimeout: 5_000,
    keepAlive: 2_000,
    onNonLazyError: () => undefined,
    on: {
      opened: (opened) => {
        socket = opened as WebSocket;
      },
      ping: (isReceived) => {
        if (!isReceived) waiting = setTimeout(() => socket?.terminate(), pongMs);
      },
      pong: (isReceived) => {
        if (isReceived) clearTimeout(waiting);
      },
      closed: () => clearTimeout(waiting),
    },
  });
  const follow: Follow = (variables, listener) =>
    new Promise((resolve) => {
      let end: End | undefined;
      const leave = client.subscribe<{ taskEvents: EventCopy }>(
        { query, variables },
        {
          next: (result) => {
            end ??= take(result as Result, listener);
          },
          error: (error) => {
            const code = Array.isArray(error) ? endOf(error[0]?.extensions?.code) : undefined;
            resolve(end ?? code ?? { at: 'broken' });
          },
          complete: () => resolve(end ?? (listener.signal.aborted ? { at: 'broken' } : { at: 'complete' })),
        },
      );
      listener.signal.addEventListener('abort', leave, { once: true });
    });
  return { follow, close: () => void client.dispose() };
};

/** Over server-sent events: one request each. */
export const createEventStreamFollow =
  (nextUrl: () => string, key: string): Follow =>
  async (variables, listener) => {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silentMs);
    try {
      const response = await fetch(`${nextUrl()}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.any([listener.signal, silence.signal]),
      });
      if (!response.headers.get('content-type')?.includes('text/event-stream')) return { at: 'broken' };
      let text = '';
      for await (const bytes of response.body ?? []) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silentMs);
        text += Buffer.from(bytes).toString();
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          if (/^event: complete/m.test(block)) return { at: 'complete' };
          const data = /^data: (.+)$/m.exec(block)?.[1];
          const end = data && take(JSON.parse(data), listener);
          if (end) return end;
        }
      }
      return { at: 'broken' };
    } catch {
      return { at: 'broken' };
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  };
