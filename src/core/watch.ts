import { DomainError } from './domain-error.ts';
import type { TaskEvent } from './draft.ts';
import { bytesOf } from './part.ts';
import type { Committed } from './ports.ts';
import { isTerminal, type TaskState } from './task-state.ts';

// A watcher is a cursor. It takes an event only if its seq is the next one; an older one it drops, and when it sees a gap,
// or was told that there is more, it reads the log. So events of this instance and of others come by one path, and losing
// every wake-up costs time, never an event.

export type LoggedEvent = TaskEvent & { /** The task's key. */ task: string; atMs: number };
export type LogEnd = { seq: number; state: TaskState };

export type EventLog = {
  /** Some of the events after a seq, in order, without a gap; none: there are no more. */
  readEvents(task: string, after: number): Promise<LoggedEvent[]>;
  readEnds(tasks: string[]): Promise<Map<string, LogEnd>>;
};

type Watching = {
  task: string;
  after: number;
  /** The caller knows that `after` is the end of the log now: nothing is read until there is news. */
  isCurrent?: boolean;
  /** Wait for a retry where the log ends, instead of completing. */
  keepOpen?: boolean;
  signal?: AbortSignal;
};

export type Watchers = {
  watch(watching: Watching): AsyncIterableIterator<LoggedEvent>;
  /** What this instance has committed. */
  publish(committed: Committed[]): void;
  /** Looks whether others have written. Called every second, and when somebody rang. */
  poll(): Promise<void>;
};

// A reader that stops costs no more than this; it catches up from the log.
const mostEvents = 512;
const mostBytes = 4 * 1_048_576; // all who watch the task hold the same ones

type Watcher = { push(events: LoggedEvent[], bytes: number): void; look(end: LogEnd): void };

export const createWatchers = (log: EventLog): Watchers => {
  const watchers = new Map<string, Set<Watcher>>();

  const watch = ({
    task,
    after,
    isCurrent = false,
    keepOpen = false,
    signal,
  }: Watching): AsyncIterableIterator<LoggedEvent> => {
    let cursor = after;
    let queue: LoggedEvent[] = [];
    let held = 0; // bytes that were pushed since the queue was empty
    let isBehind = !isCurrent; // else nothing was read yet
    let isStopped = false;
    let ring: () => void = () => undefined;

    const watcher: Watcher = {
      push(events, bytes) {
        held = bytes + (queue.length === 0 ? 0 : held);
        if (queue.length + events.length > mostEvents || held > mostBytes) {
          queue = [];
          isBehind = true;
        } else queue.push(...events);
        ring();
      },
      look({ seq }) {
        if (seq <= (queue.at(-1)?.seq ?? cursor)) return;
        isBehind = true;
        ring();
      },
    };
    const others = watchers.get(task) ?? new Set();
    watchers.set(task, others.add(watcher)); // before the first read, so that nothing falls in between

    const stop = (): void => {
      isStopped = true;
      queue = [];
      others.delete(watcher);
      if (others.size === 0 && watchers.get(task) === others) watchers.delete(task);
      signal?.removeEventListener('abort', stop);
      ring();
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop);

    const next = async (): Promise<IteratorResult<LoggedEvent>> => {
      while (!isStopped) {
        while (queue[0] && queue[0].seq <= cursor) queue.shift();
        if (queue[0]?.seq === cursor + 1) {
          const value = queue.shift() as LoggedEvent;
          cursor = value.seq;
          if (mayEnd(value)) isBehind = true; // is it the end of the log?
          return { done: false, value };
        }
        if (isBehind || queue.length > 0) await catchUp().catch(stopAndThrow);
        else await new Promise<void>((resolve) => (ring = resolve));
      }
      return { done: true, value: undefined };
    };

    const catchUp = async (): Promise<void> => {
      isBehind = false; // what comes from here on sets it again
      const events = await log.readEvents(task, cursor);
      if (isStopped) return;
      const last = events.at(-1)?.seq ?? cursor;
      queue = [...events, ...queue.filter(({ seq }) => seq > last)];
      if (events.length > 0) return;
      const end = (await log.readEnds([task])).get(task);
      if (!end) throw new DomainError('NOT_FOUND', 'There is no such task');
      if (cursor > end.seq)
        throw new DomainError('BAD_INPUT', `The log ends at ${end.seq}; there is nothing after ${cursor}`, {
          expected: end.seq,
          actual: cursor,
        });
      if (end.seq > cursor) isBehind = true;
      else if (isTerminal(end.state) && !keepOpen) stop();
    };

    /** Who could not read on is told, and costs nothing any more. */
    const stopAndThrow = (error: unknown): never => {
      stop();
      throw error;
    };

    return {
      next,
      // Not a generator: that could not be stopped while it waits.
      return: () => {
        stop();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };

  return {
    watch,
    publish(committed) {
      for (const { task, atMs, events } of committed) {
        const watching = watchers.get(task.key);
        if (!watching) continue;
        const logged = events.map((event) => ({ ...event, task: task.key, atMs })); // once, however many watch
        const bytes = events.reduce((sum, event) => sum + bytesOf(event), 0);
        for (const watcher of watching) watcher.push(logged, bytes);
      }
    },
    async poll() {
      if (watchers.size === 0) return;
      for (const [task, end] of await log.readEnds([...watchers.keys()]))
        for (const watcher of watchers.get(task) ?? []) watcher.look(end);
    },
  };
};

const mayEnd = (event: LoggedEvent): boolean => event.kind === 'STATUS' && isTerminal(event.to);
