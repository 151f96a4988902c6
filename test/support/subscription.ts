import { createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

// A subscription to a task's events over a real connection of its own, the same for both transports. It keeps what it
// receives, and tells how it ended.

export const transports = ['graphql-ws', 'SSE'] as const;
export type Transport = (typeof transports)[number];

export type Line = { seq: number } & Record<string, unknown>;
export type End =
  | { how: 'completed' | 'stopped' }
  | { how: 'refused'; code: unknown; message: string }
  /** Without a word: what a client answers by coming back. */
  | { how: 'cut'; code?: number };

export type Subscription = {
  /** In the order in which they came. */
  events: Line[];
  /** The first so many, when they are there. */
  first(count: number): Promise<Line[]>;
  ended: Promise<End>;
  /** The client unsubscribes. */
  stop(): Promise<void>;
  /** The client's machine is gone: nothing is said. */
  vanish(): void;
};

export type Watching = {
  url: string;
  key: string | null;
  taskId: string;
  after?: number;
  keepOpen?: boolean;
  fields?: string;
};

export const subscribe = (transport: Transport, watching: Watching): Subscription => {
  const { taskId, after = 0, keepOpen = false, fields = 'seq' } = watching;
  const query = `subscription($taskId: ID!, $after: Int!, $keepOpen: Boolean!) {
    taskEvents(taskId: $taskId, after: $after, keepOpen: $keepOpen) { ${fields} }
  }`;
  const events: Line[] = [];
  let rings: (() => void)[] = [];
  let end: End | undefined;
  let resolve: (end: End) => void = () => undefined;
  const ended = new Promise<End>((settle) => {
    resolve = settle;
  });
  const ring = (): void => {
    const waiting = rings;
    rings = [];
    for (const each of waiting) each();
  };
  const onEnd = (how: End): void => {
    end ??= how;
    resolve(end);
    ring();
  };
  const onAnswer = ({ data, errors: [error] = [] }: Answer): void => {
    if (error) onEnd({ how: 'refused', code: error.extensions?.code, message: error.message });
    else if (data) events.push(data.taskEvents);
    ring();
  };
  const payload = { query, variables: { taskId, after, keepOpen } };
  const { stop, vanish } = connect[transport](watching, payload, { onAnswer, onEnd });
  onTestFinished(async () => {
    vanish();
    await ended;
  });
  return {
    events,
    ended,
    stop,
    vanish,
    async first(count) {
      while (events.length < count) {
        if (end) throw new Error(`${end.how} after ${events.length} of ${count} events: ${JSON.stringify(end)}`);
        await new Promise<void>((settle) => rings.push(settle));
      }
      return events.slice(0, count);
    },
  };
};

type Refusal = { message: string; extensions?: Record<string, unknown> };
type Answer = { data?: { taskEvents: Line } | null; errors?: Refusal[] };
type Payload = { query: string; variables: Record<string, unknown> };
type Sink = { onAnswer: (answer: Answer) => void; onEnd: (end: End) => void };
type Connect = (watching: Watching, payload: Payload, sink: Sink) => { stop(): Promise<void>; vanish(): void };

const overSocket: Connect = ({ url, key }, payload, { onAnswer, onEnd }) => {
  let socket: WebSocket | undefined;
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    ...(key !== null && { connectionParams: { authorization: `Bearer ${key}` } }),
    on: {
      opened: (opened) => {
        socket = opened as WebSocket;
      },
    },
  });
  const unsubscribe = client.subscribe(payload, {
    next: (answer) => onAnswer(answer as Answer),
    error: (error) => {
      if (Array.isArray(error)) onAnswer({ errors: error as Refusal[] });
      else onEnd({ how: 'cut', code: (error as { code?: number }).code ?? 0 });
    },
    complete: () => onEnd({ how: 'completed' }),
  });
  return {
    async stop() {
      onEnd({ how: 'stopped' });
      unsubscribe();
      await client.dispose();
    },
    vanish() {
      onEnd({ how: 'stopped' });
      socket?.terminate();
      void client.dispose();
    },
  };
};

const overEventStream: Connect = ({ url, key }, payload, { onAnswer, onEnd }) => {
  const gone = new AbortController();
  const read = async (): Promise<End> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(key !== null && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(payload),
      signal: gone.signal,
    });
    let rest = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (block.startsWith('event: complete')) return { how: 'completed' };
        const data = block.match(/^data: (.+)$/m)?.[1];
        if (data !== undefined) onAnswer(JSON.parse(data));
      }
    }
    return { how: 'cut' };
  };
  void read().then(onEnd, () => onEnd({ how: 'cut' }));
  const stop = (): void => {
    onEnd({ how: 'stopped' });
    gone.abort();
  };
  return { stop: async () => stop(), vanish: stop };
};

const connect: Record<Transport, Connect> = { 'graphql-ws': overSocket, SSE: overEventStream };
