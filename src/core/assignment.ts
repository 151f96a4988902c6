import type { Message } from './command.ts';
import type { TaskHead } from './head.ts';

/** A message as it stands in the ledger. */
export type LedgerMessage = Message & { seq: number; atMs: number };

/** What an agent needs to know to work on a delivery. */
export type Assignment = {
  task: TaskHead;
  contextId: string;
  /** What it is asked now, and what was said before, oldest first. */
  message: LedgerMessage;
  history: LedgerMessage[];
  skill: string | null;
  requester: string;
  user: string;
  /** When the turn must have ended. */
  deadlineMs: number;
  metadata: Record<string, unknown>;
};
