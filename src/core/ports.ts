import type { Command, NewTask } from './command.ts';
import type { Draft, TaskEvent } from './draft.ts';
import type { LaneHead, LoadHead, TaskHead } from './head.ts';

// What core needs of the outside, in core's words.

export type LaneId = { agent: string; context: string };
/** Commands that bring an id of their own: somebody may have used it before. */
export type Bringing = Extract<Command, { message?: unknown }>;

/** Commands that share a head, decided. All of it is committed, or nothing. */
export type Group = {
  tasks: {
    /** The seq it was decided on; undefined: it is new. */ expected: number | undefined;
    created?: NewTask;
    head: TaskHead;
    drafts: Draft[];
  }[];
  lanes: { expected: number; isFresh: boolean; head: LaneHead }[];
  loads: { expected: number; head: LoadHead }[];
};

export type Flush = { id: string; atMs: number; groups: Group[] };

/** A task's new lines, as they were committed. */
export type Committed = { task: TaskHead; atMs: number; events: TaskEvent[] };

export type LogStore = {
  readTasks(keys: string[]): Promise<TaskHead[]>;
  readLanes(lanes: LaneId[]): Promise<LaneHead[]>;
  readLoads(agents: string[]): Promise<LoadHead[]>;
  /** What each account can cover, in millionths. */
  readAvailable(accounts: string[]): Promise<Map<string, bigint>>;
  /** The tasks that have a command's message id, or a create's public id, already: by that id. */
  readRivals(commands: Bringing[]): Promise<Map<string, TaskHead>>;
  /** Commits the groups whose heads have not moved on; returns the indexes of the others. */
  flush(flush: Flush): Promise<ReadonlySet<number>>;
};

/** The database refused a row, and nothing of the flush was written: some command of it is guilty. */
export class RefusedFlush extends Error {}
