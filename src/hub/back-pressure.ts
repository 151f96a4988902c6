import type { Command } from '../core/command.ts';
import type { Answer, Writer } from '../core/writer.ts';

// When too much of a task, or of all tasks, waits to be written, the agent's socket is not read until half of it is through:
// nothing is dropped, and nothing refused.

const most = 1_000;
const mostInAll = 10_000; // well below what the writer refuses: others want to be heard too

export type BackPressure = {
  submit(command: Command): Promise<Answer>;
  /** Undefined: there is room. */
  whenRoom(task: string): Promise<void> | undefined;
  /** Looks again: what fills the line may be somebody else’s. */
  look(): void;
  /** Nobody waits any more. */
  close(): void;
};

/** Who waits for a writer: whoever's write is through, they all look. */
const waitingFor = new WeakMap<Writer, Set<() => void>>();

export const createBackPressure = (writer: Writer): BackPressure => {
  let isClosed = false;
  let waiting: { task: string; goOn: () => void }[] = [];
  const lookers = waitingFor.get(writer) ?? new Set();
  waitingFor.set(writer, lookers);
  const lookAll = (): void => {
    for (const each of lookers) each();
  };

  const hasRoom = (task: string, share: number): boolean =>
    writer.pendingOf(task) < most * share && writer.pending() < mostInAll * share;

  const look = (): void => {
    const through = waiting.filter(({ task }) => isClosed || hasRoom(task, 0.5));
    if (through.length === 0) return;
    waiting = waiting.filter((each) => !through.includes(each));
    if (waiting.length === 0) lookers.delete(look);
    for (const { goOn } of through) goOn();
  };

  return {
    look,
    close() {
      isClosed = true;
      look();
    },
    submit: (command) => {
      const answer = writer.submit(command);
      answer.then(lookAll, lookAll);
      return answer;
    },
    whenRoom: (task) =>
      isClosed || hasRoom(task, 1)
        ? undefined
        : new Promise((resolve) => {
            waiting.push({ task, goOn: resolve });
            lookers.add(look);
          }),
  };
};
