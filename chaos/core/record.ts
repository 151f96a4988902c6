import { openSync, writeSync } from 'node:fs';

// What an actor did and saw, a line each, written before and after the deed and outside the database. A deed without a
// second line is unknown: it had no effect or one.

export type Invoked = {
  at: 'invoke';
  ms: number;
  op: string;
  kind: string;
  task: string;
  delivery?: number;
  /** The text of a chunk, a progress or a question; the id of a follow-up's message. */
  text?: string;
  isTwice?: boolean;
  /** The connection that reports, or that takes the delivery. */
  holder?: string;
};
export type Told =
  | { at: 'ok'; ms: number; op: string; seq: number; state: string; delivery: number; holder: string | null }
  | { at: 'fail'; ms: number; op: string; code: string; state?: string }
  | { at: 'error'; ms: number; op: string; message: string };
export type Line = Invoked | Told;

export type Lines<T> = { write(line: T): void };

export const openLines = <T extends object>(path: string): Lines<T> => {
  const file = openSync(path, 'a');
  return { write: (line) => void writeSync(file, `${JSON.stringify(line)}\n`) };
};
