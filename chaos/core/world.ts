import type { Answer } from './answers.ts';
import type { Bookmark } from './turn.ts';

/** What the harness tells an instance. Everything random follows from the seed. */
export type InstanceOrders = {
  url: string;
  directory: string;
  boot: string;
  seed: number;
  bug: string | undefined;
  network: string;
  user: string;
  agents: { id: string; name: string }[];
  contexts: string[];
  reassigns: boolean;
};

/** What an instance has the other one told: an agent connects there, or a user sends the same words there. */
export type Passed = { pass: 'comeBack'; bookmark: Bookmark } | { pass: 'answer'; answer: Answer };
export type Order = 'quiesce' | 'stop' | Passed;

export const timing = {
  leaseSeconds: 2,
  graceSeconds: 1,
  placeSeconds: 1,
  maxAttempts: 3,
  /** Long enough that only an agent that hangs, or a delivery that everybody forgot, gets there. */
  turnSeconds: 15,
  hangSeconds: 3,
  /** How long a question waits for its answer. */
  inputSeconds: 3,
};

export const bugs = ['no-fence', 'no-holder', 'unordered-locks', 'flush-id-ignored', 'cached-refusal'] as const;
export type Bug = (typeof bugs)[number];
