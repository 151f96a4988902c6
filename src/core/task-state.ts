// The life of a task. This table is the only one: core decides by it, the database checks against a copy that a test
// compares, and the diagram in docs/state-machine.md is compared with it too.

export const taskStates = [
  'SUBMITTED',
  'WORKING',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
  'EXPIRED',
] as const;

export type TaskState = (typeof taskStates)[number];

/** Where a task may go from each state. Back to SUBMITTED only by retry or reassign. */
export const transitions: Record<TaskState, readonly TaskState[]> = {
  SUBMITTED: ['WORKING', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED'],
  WORKING: ['INPUT_REQUIRED', 'AUTH_REQUIRED', 'COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'SUBMITTED'],
  INPUT_REQUIRED: ['WORKING', 'FAILED', 'CANCELED', 'SUBMITTED'],
  AUTH_REQUIRED: ['WORKING', 'FAILED', 'CANCELED', 'SUBMITTED'],
  COMPLETED: [],
  FAILED: ['SUBMITTED'],
  CANCELED: ['SUBMITTED'],
  REJECTED: ['SUBMITTED'],
  EXPIRED: ['SUBMITTED'],
};

/** States in which a STATUS event may tell news without a move: progress, and a queued task that gets another executor. */
export const restless: readonly TaskState[] = ['WORKING', 'SUBMITTED'];

export const isTerminal = (state: TaskState): boolean => !openStates.includes(state);

const openStates: readonly TaskState[] = ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED'];

export const mayMove = (from: TaskState, to: TaskState): boolean => transitions[from].includes(to);
