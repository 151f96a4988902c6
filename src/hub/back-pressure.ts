import type { Command } from '../core/command.ts';
import type { Answer, Writer } from '../core/writer.ts';

// When too much of a task waits to be written, its agent's socket is not read until half of it is through: nothing is
// dropped, and nothing refused.

const most = 1_000;
const goOnBelow = 500;

export type BackPressure = {
  submit(command: Command): Promise<Answer>;
  /** Undefined: there is room. */
  whenRoom(task: string): Promise<void> | undefined;
  /** Looks again: what fills the line may be somebody else’s. */
  look(): void;
  /** Nobody waits any more. */
  close(): void;
};

export const createBackPressure = (writer: Writer): BackPressure => {
  let isClosed = false;
  let waiting: { task: string; goOn: () => void }[] = [];

  const look = (): void => {
    const through = waiting.filter(({ task }) => isClosed || writer.pendingOf(task) < goOnBelow);
    if (through.length === 0) return;
    waiting = waiting.filter((each) => !through.includes(each));
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
      answer.then(look, look);
      return answer;
    },
    whenRoom: (task) =>
      isClosed || writer.pendingOf(task) < most
        ? undefined
        : new Promise((resolve) => {
            waiting.push({ task, goOn: resolve });
          }),
  };
};
