import { chunkText } from '../load/chunk.ts';
import type { Contender, Plan, Written } from './contender.ts';
import { startStopwatch } from './stopwatch.ts';

// The agents' side: a task in each slot, up to `window` of its chunks on their way at once, because an agent streams.

export type Stream = {
  slots: number;
  /** How many chunks of a task may be on their way. One for peers that would lose their order otherwise. */
  window: number;
  /** When no more tasks begin, those that run end too: a peer of 300 chunks/s would need minutes for 64 long ones. */
  isCutShort: boolean;
  begin(slot: number): Promise<string>;
  chunk(key: string, n: number, text: string): Promise<unknown>;
  complete(key: string, n: number): Promise<unknown>;
  counters(): { commits: number; missedGroups: number };
  close(): Promise<void>;
};

export const createStreaming = (stream: Stream): Contender => ({
  close: stream.close,
  round: async ({ chunksPerTask, lastBeginMs }: Plan, onMeasured) => {
    const written: Written = [];
    const watch = startStopwatch();
    const before = stream.counters();
    let commands = 0;
    let isOver = false;

    const measure = () => {
      if (isOver) return;
      isOver = true;
      const { commits, missedGroups } = stream.counters();
      onMeasured({
        ...watch.read(),
        // Exact where all tasks are whole. One that was cut short had its create and no complete: a command is a command.
        chunks: (commands * chunksPerTask) / (chunksPerTask + 2),
        commits: commits - before.commits,
        missedGroups: missedGroups - before.missedGroups,
      });
    };
    const cut = stream.isCutShort ? setTimeout(measure, lastBeginMs) : undefined;

    const work = async (slot: number): Promise<void> => {
      while (!isOver && watch.elapsedMs() < lastBeginMs) {
        const key = await stream.begin(slot);
        commands += 1;
        const chunks = await send(key);
        await stream.complete(key, chunks + 1);
        commands += 1;
        written.push({ key, chunks });
      }
    };

    /** Resolves with the number of chunks when all that were sent are acknowledged. */
    const send = (key: string): Promise<number> =>
      new Promise((resolve, reject) => {
        let sent = 0;
        let acknowledged = 0;
        const onAcknowledged = () => {
          acknowledged += 1;
          commands += 1;
          sendMore();
        };
        const sendMore = () => {
          while (!isOver && sent < chunksPerTask && sent - acknowledged < stream.window) {
            sent += 1;
            stream.chunk(key, sent, chunkText(sent)).then(onAcknowledged, reject);
          }
          if (acknowledged === sent) resolve(sent);
        };
        sendMore();
      });

    try {
      await Promise.all(Array.from({ length: stream.slots }, (_, slot) => work(slot)));
      measure();
    } finally {
      clearTimeout(cut);
    }
    return written;
  },
});
