// What the actors write down, a line each: what they did before they did it, what they were told after, what they saw. A
// deed without an answer, or answered with `unknown`, had no effect or one.

export type Invoked = {
  at: 'invoke';
  ms: number;
  op: string;
  kind: 'send' | 'followUp' | 'cancel' | 'retry' | 'read' | 'foreign' | 'report' | 'late';
  /** Undefined: the hub chooses the id. */
  task?: string;
  /** The message's id: repeats have the same. */
  message?: string;
  delivery?: number;
  n?: number;
  what?: string;
  /** The number of the agent's connection. */
  connection?: number;
};

export type Told =
  | { at: 'ok'; ms: number; op: string; task?: string; state?: string; seq?: number }
  | { at: 'fail'; ms: number; op: string; code: string }
  | { at: 'unknown'; ms: number; op: string; why: string };

export type Seen =
  | {
      at: 'subscribe';
      ms: number;
      stream: string;
      task: string;
      after: number;
      over: 'WebSocket' | 'SSE';
      isForeign?: true;
    }
  | { at: 'event'; ms: number; stream: string; seq: number; hash: string }
  /** complete: by the hub. refused: with a code. broken: the connection. left: by the client. open: still, at the very end. */
  | { at: 'complete' | 'refused' | 'broken' | 'left' | 'open'; ms: number; stream: string; code?: string };

type Worked =
  | { at: 'registered'; ms: number; connection: number; resumed: Holding[] }
  | { at: 'executed'; ms: number; connection: number; task: string; delivery: number }
  | { at: 'refusal'; ms: number; connection: number; code: string }
  | { at: 'crash'; ms: number; task: string };

type Holding = { task: string; delivery: number; lastN: number };

/** Strings of a network that appeared in what somebody received. */
export type Canaries = { at: 'canaries'; ms: number; found: string[] };

export type Line = Invoked | Told | Seen | Worked | Canaries;

const canary = /canary-[0-9a-f]+/g;

/** Notes each canary once. */
export const createCanaryWatch = (write: (line: Canaries) => void) => {
  const known = new Set<string>();
  return (text: string): void => {
    const found = [...new Set(text.match(canary))].filter((each) => !known.has(each));
    for (const each of found) known.add(each);
    if (found.length > 0) write({ at: 'canaries', ms: Date.now(), found });
  };
};
