import type { Command, CommandKind } from './command.ts';
import { asking } from './decide-asking.ts';
import { handingOver } from './decide-handing-over.ts';
import { working } from './decide-working.ts';
import { DomainError } from './domain-error.ts';
import type { Draft } from './draft.ts';
import type { LaneHead, LoadHead, TaskHead } from './head.ts';

// The rules. Pure: the same heads, command and clock give the same decision; nothing is read, nothing is written.

/** What the outside tells a decision: the time, fresh ids, and the settings of the hub. */
export type Clock = { nowMs: number; newId: () => string; placeSeconds: number; inputSeconds: number };

export type Heads = {
  /** Undefined: there is no such task. */
  task: TaskHead | undefined;
  /** The task's lane, and the lane it would be reassigned to. */
  lanes: readonly LaneHead[];
  load?: LoadHead | undefined;
  available?: bigint | undefined;
};

export type Decision =
  | { kind: 'changed'; draft: Draft }
  /** Nothing to write: it was said before, or no longer matters. */
  | { kind: 'unchanged'; task: TaskHead }
  | { kind: 'refused'; error: DomainError };

/** How a rule says that there is nothing to do. */
export const nothing = Symbol('nothing');

export type Rule<Kind extends CommandKind> = (
  draft: Draft,
  command: Extract<Command, { kind: Kind }>,
  clock: Clock,
) => undefined | typeof nothing;

const rules: { [Kind in CommandKind]: Rule<Kind> } = { ...asking, ...working, ...handingOver };

export const decide = (heads: Heads, command: Command, clock: Clock): Decision => {
  try {
    const draft = begin(heads, command);
    const rule = rules[command.kind] as Rule<CommandKind>;
    return rule(draft, command, clock) === nothing
      ? { kind: 'unchanged', task: draft.task }
      : { kind: 'changed', draft };
  } catch (error) {
    if (error instanceof DomainError) return { kind: 'refused', error };
    throw error;
  }
};

/** Copies, so that a rule may change them. */
const begin = ({ task, lanes, load, available }: Heads, command: Command): Draft => {
  const draft = {
    lanes: lanes.map((lane) => ({ ...lane })),
    load: load && { ...load },
    available,
    events: [],
    changes: [],
  };
  if (command.kind === 'create') {
    if (task)
      throw new DomainError('IDEMPOTENCY_CONFLICT', `There is a task ${task.id} already`, {
        taskId: task.id,
        state: task.state,
      });
    return { ...draft, task: unborn(command) };
  }
  if (!task) throw new DomainError('NOT_FOUND', `There is no task ${command.task}`);
  return { ...draft, task: { ...task } };
};

const unborn = ({ created }: Extract<Command, { kind: 'create' }>): TaskHead => ({
  key: created.key,
  id: created.id,
  network: created.network,
  context: created.context,
  root: created.root,
  executor: created.executor,
  priority: created.priority,
  state: 'SUBMITTED',
  run: 1,
  seq: 0,
  generation: 1,
  delivery: 0,
  deliveryState: 'ENDED',
  holder: null,
  lastN: 0,
  rank: 0,
  attempts: 0,
  isAcknowledged: false,
  ttlSeconds: created.ttlSeconds,
  timeoutSeconds: created.timeoutSeconds,
  turnSeq: 0,
  turn: null,
  hold: null,
});
