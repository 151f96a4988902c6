import type { Command, Fence } from '../../src/core/command.ts';
import type { DeliveryOutcome, DeliveryState } from '../../src/core/delivery-state.ts';
import type { ErrorCode } from '../../src/core/domain-error.ts';
import type { Executor, Priority } from '../../src/core/head.ts';
import type { TaskState } from '../../src/core/task-state.ts';

// What domain.md says of tasks, deliveries and the queue, said again as simply as possible and without looking at the
// rules in src/core: nothing is cached, folded or numbered here, and the line is sorted anew whenever somebody asks.

export type ModelTask = {
  key: string;
  context: string;
  executor: Executor;
  priority: Priority;
  state: TaskState;
  run: number;
  delivery: number;
  deliveryState: DeliveryState;
  holder: string | null;
  lastN: number;
  attempts: number;
  /** In this run. */
  wasAcknowledged: boolean;
  generation: number;
  place: { isInterrupted: boolean; age: number };
  /** Every STATUS of the log, and how each delivery that has ended did. */
  statuses: [TaskState | null, TaskState][];
  outcomes: DeliveryOutcome[];
};

/** Who works, and who waits, first one first. */
type Lane = { running: { task: string; delivery: number } | null; line: string[] };

export const table: Record<TaskState, readonly TaskState[]> = {
  SUBMITTED: ['WORKING', 'REJECTED', 'EXPIRED', 'FAILED', 'CANCELED', 'SUBMITTED'],
  WORKING: ['WORKING', 'REJECTED', 'FAILED', 'COMPLETED', 'INPUT_REQUIRED', 'AUTH_REQUIRED', 'CANCELED', 'SUBMITTED'],
  INPUT_REQUIRED: ['WORKING', 'FAILED', 'CANCELED', 'SUBMITTED'],
  AUTH_REQUIRED: ['WORKING', 'FAILED', 'CANCELED', 'SUBMITTED'],
  COMPLETED: [],
  FAILED: ['SUBMITTED'],
  CANCELED: ['SUBMITTED'],
  REJECTED: ['SUBMITTED'],
  EXPIRED: ['SUBMITTED'],
};
export const terminal: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED'];
export const held: readonly string[] = ['DELIVERED', 'ACKED', 'WORKING'];
export const asking: readonly string[] = ['INPUT_REQUIRED', 'AUTH_REQUIRED'];
const priorities: readonly Priority[] = ['HIGH', 'NORMAL', 'LOW'];

class Refusal extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

export const createModel = () => {
  const tasks = new Map<string, ModelTask>();
  const places = new Map<string, { task: string; delivery: number }>();
  let moment = 0;

  /** The code of the refusal, or undefined. */
  const apply = (command: Command): ErrorCode | undefined => {
    moment += 1;
    try {
      const task = tasks.get(command.task);
      if (command.kind === 'create') create(command);
      else if (!task) throw new Refusal('NOT_FOUND');
      else if ('fence' in command) report(task, command);
      else move(task, command);
      return undefined;
    } catch (error) {
      if (error instanceof Refusal) return error.code;
      throw error;
    }
  };

  const create = ({ created, taker }: Extract<Command, { kind: 'create' }>): void => {
    if (tasks.has(created.key)) throw new Refusal('IDEMPOTENCY_CONFLICT');
    const task: ModelTask = {
      key: created.key,
      context: created.context,
      executor: created.executor,
      priority: created.priority,
      state: 'SUBMITTED',
      run: 1,
      delivery: 0,
      deliveryState: 'ENDED',
      holder: null,
      lastN: 0,
      attempts: 0,
      wasAcknowledged: false,
      generation: 1,
      place: { isInterrupted: false, age: moment },
      statuses: [[null, 'SUBMITTED']],
      outcomes: [],
    };
    tasks.set(created.key, task);
    queue(task);
    if (taker && lineOf(task).length === 1) take(task, taker.holder);
  };

  /** The requester, the dispatcher and the patrols. */
  const move = (task: ModelTask, command: Exclude<Command, { kind: 'create' } | { fence: Fence }>): void => {
    const isNow = 'delivery' in command && command.delivery === task.delivery;
    const isHeld = held.includes(task.deliveryState);
    switch (command.kind) {
      case 'followUp':
        if (isTerminal(task)) throw new Refusal('ILLEGAL_TRANSITION');
        if (!asking.includes(task.state)) return;
        end(task, 'INTERRUPTED');
        become(task, 'WORKING');
        task.attempts = 0;
        task.place = { isInterrupted: true, age: moment };
        queue(task);
        return;
      case 'cancel':
        if (isTerminal(task)) throw new Refusal('ILLEGAL_TRANSITION');
        end(task, 'CANCELED', { keepsPlace: true });
        become(task, 'CANCELED');
        return;
      case 'retry':
        if (!isTerminal(task) || task.state === 'COMPLETED') throw new Refusal('ILLEGAL_TRANSITION');
        startOver(task);
        return;
      case 'reassign':
        if (task.state === 'COMPLETED') throw new Refusal('ILLEGAL_TRANSITION');
        end(task, 'REASSIGNED', { keepsPlace: true });
        task.executor = command.executor;
        startOver(task);
        return;
      case 'take':
        if (task.deliveryState === 'QUEUED' && lineOf(task)[0] === task.key) take(task, command.taker?.holder ?? null);
        return;
      case 'resume':
        if (!isNow || !isHeld) throw new Refusal('STALE_DELIVERY');
        task.holder = command.taker.holder;
        return;
      case 'lose':
        if (isNow && task.holder === command.holder) task.holder = null;
        return;
      case 'release':
        for (const [lane, place] of places)
          if (place.task === task.key && place.delivery === command.delivery && !(isNow && isHeld)) places.delete(lane);
        return;
      case 'requeue': {
        if (!isNow || !isHeld || task.holder) return;
        const isUnread = task.deliveryState === 'DELIVERED';
        const goesOn = (isUnread || task.executor.whenLost === 'REQUEUE') && task.attempts < task.executor.maxAttempts;
        end(task, 'LOST');
        if (goesOn) queue(task);
        else become(task, 'FAILED');
        return;
      }
      case 'expire':
        if (!isNow || !['QUEUED', 'DELIVERED'].includes(task.deliveryState)) return;
        // What was acknowledged once never expires, also when it was lost since.
        expire(task, task.state === 'SUBMITTED' && !task.wasAcknowledged ? 'EXPIRED' : 'FAILED');
        return;
      case 'timeOut':
        if (!isNow || !isHeld) return;
        end(task, 'FAILED', { keepsPlace: true });
        become(task, 'FAILED');
        return;
      case 'giveUp':
        if (!isNow || !asking.includes(task.state)) return;
        end(task, 'CANCELED', { keepsPlace: true });
        become(task, 'CANCELED');
        return;
    }
  };

  /** The agent. */
  const report = (task: ModelTask, command: Extract<Command, { fence: Fence }>): void => {
    const { fence, n } = command;
    const last = finals[command.kind];
    if (fence.agent !== task.executor.id) throw new Refusal('NOT_FOUND');
    if (last && fence.delivery === task.delivery && task.state === last) return; // its first answer again
    if (fence.delivery !== task.delivery) throw new Refusal('STALE_DELIVERY');
    // Too late to start: nobody waits for an acknowledgement any more.
    if (isTerminal(task)) throw new Refusal(command.kind === 'acknowledge' ? 'STALE_DELIVERY' : 'ILLEGAL_TRANSITION');
    if (fence.holder && fence.holder !== task.holder) throw new Refusal('STALE_DELIVERY');
    if (!held.includes(task.deliveryState)) throw new Refusal('STALE_DELIVERY');
    if (n !== undefined && n <= task.lastN) return;
    if (n !== undefined && n > task.lastN + 1) throw new Refusal('BAD_INPUT');
    if (last && !passesBy(task, last).every((to, index, way) => table[way[index - 1] ?? task.state].includes(to)))
      throw new Refusal('ILLEGAL_TRANSITION');
    if (n !== undefined) task.lastN = n;

    if (command.kind === 'acknowledge') {
      if (task.deliveryState === 'DELIVERED') task.deliveryState = 'ACKED';
      task.wasAcknowledged = true;
      return;
    }
    if (command.kind === 'say') return;
    if (last) {
      for (const to of passesBy(task, last).slice(0, -1)) become(task, to);
      end(task, last as DeliveryOutcome);
      become(task, last);
      return;
    }
    task.deliveryState = 'WORKING';
    task.wasAcknowledged = true;
    if (task.state !== 'WORKING') become(task, 'WORKING');
    else if (command.kind === 'progress') task.statuses.push(['WORKING', 'WORKING']);
    if (command.kind === 'artifact') task.generation += 1;
    if (command.kind !== 'ask') return;
    if (command.state === 'INPUT_REQUIRED') end(task, 'INTERRUPTED'); // AUTH_REQUIRED keeps its delivery and its place
    become(task, command.state);
  };

  const isTerminal = ({ state }: ModelTask): boolean => terminal.includes(state);

  const become = (task: ModelTask, to: TaskState): void => {
    if (!table[task.state].includes(to)) throw new Error(`The model cannot go from ${task.state} to ${to}`);
    task.statuses.push([task.state, to]);
    if (task.state !== to) task.generation += 1;
    task.state = to;
  };

  const expire = (task: ModelTask, last: 'EXPIRED' | 'FAILED'): void => {
    end(task, last, { keepsPlace: true });
    become(task, last);
  };

  const startOver = (task: ModelTask): void => {
    task.run += 1;
    task.attempts = 0;
    task.wasAcknowledged = false;
    become(task, 'SUBMITTED');
    task.place = { isInterrupted: false, age: moment };
    queue(task);
  };

  const queue = (task: ModelTask): void => {
    task.delivery += 1;
    task.deliveryState = 'QUEUED';
    task.lastN = 0;
  };

  const take = (task: ModelTask, holder: string | null): void => {
    if (places.has(laneOf(task))) return;
    places.set(laneOf(task), { task: task.key, delivery: task.delivery });
    task.deliveryState = 'DELIVERED';
    task.holder = holder;
    task.attempts += 1;
  };

  const end = (task: ModelTask, outcome: DeliveryOutcome, { keepsPlace = false } = {}): void => {
    if (task.deliveryState === 'ENDED') return;
    if (task.deliveryState !== 'QUEUED' && !keepsPlace) places.delete(laneOf(task));
    task.deliveryState = 'ENDED';
    task.holder = null;
    task.outcomes.push(outcome);
  };

  const lineOf = ({ executor, context }: Pick<ModelTask, 'executor' | 'context'>): string[] =>
    [...tasks.values()]
      .filter((each) => each.deliveryState === 'QUEUED' && each.executor.id === executor.id && each.context === context)
      .sort(
        (one, other) =>
          priorities.indexOf(one.priority) - priorities.indexOf(other.priority) ||
          Number(other.place.isInterrupted) - Number(one.place.isInterrupted) ||
          one.place.age - other.place.age,
      )
      .map(({ key }) => key);

  /** The lanes in which somebody works or waits. */
  const lanes = (): Record<string, Lane> => {
    const all: Record<string, Lane> = {};
    for (const [lane, running] of places) all[lane] = { running, line: [] };
    for (const task of tasks.values())
      if (task.deliveryState === 'QUEUED')
        all[laneOf(task)] = { running: places.get(laneOf(task)) ?? null, line: lineOf(task) };
    return all;
  };

  return { tasks, places, apply, lanes };
};

export const laneOf = ({ executor, context }: Pick<ModelTask, 'executor' | 'context'>): string =>
  `${executor.id}/${context}`;

const finals: Partial<Record<Command['kind'], TaskState>> = {
  complete: 'COMPLETED',
  fail: 'FAILED',
  reject: 'REJECTED',
  stop: 'CANCELED',
};

/** A report other than REJECTED or FAILED on a SUBMITTED task passes through WORKING first; so does whoever completes. */
const passesBy = ({ state }: ModelTask, last: TaskState): TaskState[] =>
  (state === 'SUBMITTED' && (last === 'COMPLETED' || last === 'CANCELED')) ||
  (state === 'AUTH_REQUIRED' && last === 'COMPLETED')
    ? ['WORKING', last]
    : [last];
