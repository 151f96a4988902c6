import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { type EventCopy, hashOf } from './copy.ts';
import type { Line } from './record.ts';
import { createEventStreamFollow, createSocketFollow } from './streams.ts';

// Follows tasks to their ends, and after each cut goes on where it was, at another server and in another way.

export type Subscriber = {
  /** Resolves when the hub says that the stream is complete, or refuses it. Calls back with each event, once. */
  follow(task: string, onEvent: (event: EventCopy) => void): Promise<'complete' | 'refused'>;
  /** A look at somebody else's task. */
  tryForeign(task: string): Promise<void>;
  /** Writes down what is still open. */
  close(): void;
};

type Options = {
  urls: string[];
  key: string;
  random: Random;
  write: (line: Line) => void;
  onText: (text: string) => void;
};

export const createSubscriber = ({ urls, key, random, write, onText }: Options): Subscriber => {
  const nextUrl = (): string => urls[random.between(0, urls.length - 1)] ?? '';
  const socket = createSocketFollow(nextUrl, key);
  const overEvents = createEventStreamFollow(nextUrl, key);
  const cursors = new Map<string, number>();
  const open = new Set<string>();
  let count = 0;

  /** Once, until it ends or the client has had enough. */
  const listen = async (task: string, onEvent: (event: EventCopy) => void, isForeign: boolean) => {
    count += 1;
    const stream = `${process.pid}-${count}`;
    const after = cursors.get(task) ?? 0;
    const over = random.chance(0.6) ? 'WebSocket' : 'SSE';
    write({ at: 'subscribe', ms: Date.now(), stream, task, after, over, ...(isForeign && { isForeign }) });
    open.add(stream);
    const leaving = new AbortController();
    const enough = random.chance(0.2) ? setTimeout(() => leaving.abort(), random.between(50, 3_000)) : undefined;
    const listener = {
      signal: leaving.signal,
      onText,
      onEvent: (event: EventCopy) => {
        if (leaving.signal.aborted) return;
        write({ at: 'event', ms: Date.now(), stream, seq: event.seq, hash: hashOf(event) });
        cursors.set(task, event.seq);
        onEvent(event);
      },
    };
    const end = await (over === 'SSE' ? overEvents : socket.follow)({ task, after }, listener);
    clearTimeout(enough);
    open.delete(stream);
    write({ ms: Date.now(), stream, ...(leaving.signal.aborted ? { at: 'left' } : end) });
    return leaving.signal.aborted ? 'broken' : end.at;
  };

  return {
    async follow(task, onEvent) {
      for (;;) {
        const end = await listen(task, onEvent, false);
        if (end !== 'broken') return end;
        await sleep(random.between(20, 400));
      }
    },
    async tryForeign(task) {
      for (let times = 0; times < 3; times += 1) {
        const end = await listen(task, () => undefined, true);
        if (end !== 'broken') return;
        await sleep(500);
      }
    },
    close() {
      for (const stream of open) write({ at: 'open', ms: Date.now(), stream });
      socket.close();
    },
  };
};
