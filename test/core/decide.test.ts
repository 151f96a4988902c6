import { describe, expect, test } from 'vitest';
import type { Command, CommandKind, Message } from '../../src/core/command.ts';
import { type Clock, type Decision, decide } from '../../src/core/decide.ts';
import type { ErrorCode } from '../../src/core/domain-error.ts';
import type { LaneHead, TaskHead } from '../../src/core/head.ts';
import { isTerminal, type TaskState, taskStates } from '../../src/core/task-state.ts';

const clock: Clock = { nowMs: 1_000, newId: () => 'fresh', placeSeconds: 15, inputSeconds: 604_800 };
const executor = {
  id: 'agent',
  name: 'echo',
  isAsync: false,
  whenLost: 'FAIL',
  maxAttempts: 3,
  graceSeconds: 30,
  turnSeconds: 1_800,
  capacity: null,
} as const;
const message: Message = {
  id: 'm',
  author: 'USER',
  authorName: 'ada',
  kind: 'TASK',
  parts: [{ text: 'hello' }],
  inReplyTo: null,
  metadata: {},
};
const chunk = { artifactId: 'a', parts: [{ text: 'x' }], append: true, lastChunk: false };
const fence = { agent: 'agent', delivery: 1, holder: 'socket' };
const taker = { holder: 'other socket', instance: 'boot' };

/** A task as it is in each state: handed over to the agent, or no longer with it. */
const taskIn = (state: TaskState, change: Partial<TaskHead> = {}): TaskHead => {
  const isHeld = state === 'SUBMITTED' || state === 'WORKING' || state === 'AUTH_REQUIRED';
  return {
    key: 'key',
    id: 'id',
    network: 'network',
    context: 'context',
    root: 'key',
    executor,
    priority: 'NORMAL',
    state,
    run: 1,
    seq: 9,
    generation: 2,
    delivery: 1,
    deliveryState: isHeld ? (state === 'SUBMITTED' ? 'DELIVERED' : 'WORKING') : 'ENDED',
    holder: isHeld ? 'socket' : null,
    lastN: 4,
    rank: 7,
    attempts: 1,
    isAcknowledged: false,
    ttlSeconds: null,
    timeoutSeconds: null,
    turnSeq: 0,
    turn: null,
    hold: null,
    ...change,
  };
};
const laneFor = (task: TaskHead, change: Partial<LaneHead> = {}): LaneHead => ({
  agent: 'agent',
  context: 'context',
  version: 5,
  first: null,
  waiting: 0,
  running: task.deliveryState === 'ENDED' || task.deliveryState === 'QUEUED' ? null : { task: 'key', delivery: 1 },
  ...change,
});
const created = {
  key: 'new',
  id: 'new',
  network: 'network',
  context: 'context',
  contextId: 'context',
  root: 'new',
  parent: null,
  depth: 0,
  user: 'user',
  requester: { id: 'user', isAgent: false, name: 'ada' },
  executor,
  skill: null,
  priority: 'NORMAL',
  ttlSeconds: null,
  timeoutSeconds: null,
  hold: null,
  metadata: {},
} as const;

const commands: { [Kind in CommandKind]: Extract<Command, { kind: Kind }> } = {
  create: { kind: 'create', task: 'new', created, message },
  followUp: { kind: 'followUp', task: 'key', actor: 'ada', message },
  cancel: { kind: 'cancel', task: 'key', actor: 'ada', reason: 'REQUESTED', text: 'enough' },
  retry: { kind: 'retry', task: 'key', actor: 'ada' },
  reassign: { kind: 'reassign', task: 'key', actor: 'ada', executor: { ...executor, id: 'other', name: 'other' } },
  acknowledge: { kind: 'acknowledge', task: 'key', fence },
  progress: { kind: 'progress', task: 'key', fence, text: 'half' },
  artifact: { kind: 'artifact', task: 'key', fence, chunk },
  say: { kind: 'say', task: 'key', fence, message },
  ask: { kind: 'ask', task: 'key', fence, state: 'INPUT_REQUIRED' },
  complete: { kind: 'complete', task: 'key', fence },
  fail: { kind: 'fail', task: 'key', fence, reason: 'BROKEN' },
  reject: { kind: 'reject', task: 'key', fence, reason: 'BUSY' },
  stop: { kind: 'stop', task: 'key', fence },
  take: { kind: 'take', task: 'key', agent: 'agent', taker },
  resume: { kind: 'resume', task: 'key', agent: 'agent', delivery: 1, taker },
  lose: { kind: 'lose', task: 'key', delivery: 1, holder: 'socket' },
  release: { kind: 'release', task: 'key', delivery: 1, agent: 'agent' },
  requeue: { kind: 'requeue', task: 'key', delivery: 1 },
  expire: { kind: 'expire', task: 'key', delivery: 1 },
  timeOut: { kind: 'timeOut', task: 'key', delivery: 1 },
  giveUp: { kind: 'giveUp', task: 'key', delivery: 1 },
};

/** The state after it, `-` for nothing to do, or the code of the refusal. */
type Cell = TaskState | '-' | ErrorCode;
const row = (cells: string): Record<TaskState, Cell> => {
  const each = cells.trim().split(/\s+/);
  return Object.fromEntries(taskStates.map((state, index) => [state, each[index] as Cell])) as Record<TaskState, Cell>;
};

// prettier than it looks: one row per command, one column per state
const table: Record<CommandKind, Record<TaskState, Cell>> = {
  //               SUBMITTED      WORKING        INPUT_REQUIRED AUTH_REQUIRED  COMPLETED FAILED CANCELED REJECTED EXPIRED
  create: row(`    ${'IDEMPOTENCY_CONFLICT '.repeat(9)}`),
  followUp: row(`  SUBMITTED      WORKING        WORKING        WORKING        ${'ILLEGAL_TRANSITION '.repeat(5)}`),
  cancel: row(`    CANCELED       CANCELED       CANCELED       CANCELED       ${'ILLEGAL_TRANSITION '.repeat(5)}`),
  retry: row(`     ${'ILLEGAL_TRANSITION '.repeat(5)} SUBMITTED SUBMITTED SUBMITTED SUBMITTED`),
  reassign: row(
    `  SUBMITTED      SUBMITTED      SUBMITTED      SUBMITTED      ILLEGAL_TRANSITION SUBMITTED SUBMITTED SUBMITTED SUBMITTED`,
  ),
  acknowledge: row(`SUBMITTED     -              STALE_DELIVERY -              ${'STALE_DELIVERY '.repeat(5)}`),
  progress: row(`  WORKING        WORKING        STALE_DELIVERY WORKING        ${'ILLEGAL_TRANSITION '.repeat(5)}`),
  artifact: row(`  WORKING        WORKING        STALE_DELIVERY WORKING        ${'ILLEGAL_TRANSITION '.repeat(5)}`),
  say: row(`       SUBMITTED      WORKING        STALE_DELIVERY AUTH_REQUIRED  ${'ILLEGAL_TRANSITION '.repeat(5)}`),
  ask: row(`       INPUT_REQUIRED INPUT_REQUIRED STALE_DELIVERY INPUT_REQUIRED ${'ILLEGAL_TRANSITION '.repeat(5)}`),
  complete: row(`  COMPLETED      COMPLETED      STALE_DELIVERY COMPLETED      - ${'ILLEGAL_TRANSITION '.repeat(4)}`),
  fail: row(
    `      FAILED         FAILED         STALE_DELIVERY FAILED         ILLEGAL_TRANSITION - ${'ILLEGAL_TRANSITION '.repeat(3)}`,
  ),
  reject: row(
    `    REJECTED       REJECTED       STALE_DELIVERY ILLEGAL_TRANSITION ${'ILLEGAL_TRANSITION '.repeat(3)} - ILLEGAL_TRANSITION`,
  ),
  stop: row(
    `      CANCELED       CANCELED       STALE_DELIVERY CANCELED       ${'ILLEGAL_TRANSITION '.repeat(2)} - ${'ILLEGAL_TRANSITION '.repeat(2)}`,
  ),
  take: row(`      ${'- '.repeat(9)}`),
  resume: row(`    SUBMITTED      WORKING        STALE_DELIVERY AUTH_REQUIRED  ${'STALE_DELIVERY '.repeat(5)}`),
  lose: row(`      SUBMITTED      WORKING        -              AUTH_REQUIRED  - - - - -`),
  release: row(`   ${'- '.repeat(9)}`),
  requeue: row(`   ${'- '.repeat(9)}`),
  expire: row(`    EXPIRED        -              -              -              - - - - -`),
  timeOut: row(`   FAILED         FAILED         -              FAILED         - - - - -`),
  giveUp: row(`    -              -              CANCELED       CANCELED       - - - - -`),
};

const run = (task: TaskHead, command: Command, lane = laneFor(task)) => {
  const target = { ...lane, agent: 'other', running: null, first: null, waiting: 0 };
  return decide({ task, lanes: [lane, target] }, command, clock);
};
const changed = (task: TaskHead, command: Command, lane?: LaneHead) => {
  const decision = run(task, command, lane);
  if (decision.kind !== 'changed') throw new Error(`${decision.kind}: ${JSON.stringify(decision)}`);
  return decision.draft;
};
const outcomeOf = (decision: Decision): Cell => {
  if (decision.kind === 'refused') return decision.error.code;
  return decision.kind === 'unchanged' || decision.draft.events.length === 0 ? '-' : decision.draft.task.state;
};
const cells = Object.values(commands).flatMap((command) =>
  taskStates.map((state) => ({ kind: command.kind, state, command })),
);

describe('every command in every state does what the table says', () => {
  test.each(cells)('$kind in $state', ({ state, command }) => {
    const decision = run(taskIn(state), command);
    expect(outcomeOf(decision)).toBe(table[command.kind][state]);
  });

  test.each(cells)('$kind in $state leaves the log and the heads in step', ({ state, command }) => {
    const before = taskIn(state);
    const decision = run(before, command);
    expect(before).toEqual(taskIn(state)); // pure
    if (outcomeOf(decision) === '-' || decision.kind !== 'changed') return;
    const { task, events, lanes } = decision.draft;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => before.seq + 1 + index));
    expect(task.seq).toBe(before.seq + events.length);
    if (isTerminal(task.state)) expect(events.at(-1)).toMatchObject({ kind: 'STATUS', to: task.state });
    if (isTerminal(task.state)) expect(task).toMatchObject({ deliveryState: 'ENDED', holder: null });
    const moves = events.filter(({ kind, from, to }) => (kind === 'STATUS' && from !== to) || kind === 'ARTIFACT');
    expect(task.generation).toBe(before.generation + moves.length);
    for (const lane of lanes) expect(lane.waiting).toBeGreaterThanOrEqual(0);
  });
});

describe('the fence', () => {
  const refusal = (command: Command, task = taskIn('WORKING')) => {
    const decision = run(task, command);
    return decision.kind === 'refused' ? decision.error.code : decision.kind;
  };

  test("another agent's report finds no task", () => {
    expect(refusal({ ...commands.complete, fence: { ...fence, agent: 'stranger' } })).toBe('NOT_FOUND');
  });

  test('a report for a former delivery is stale', () => {
    expect(refusal(commands.complete, taskIn('WORKING', { delivery: 2 }))).toBe('STALE_DELIVERY');
  });

  test('a report over a connection that lost the delivery is stale', () => {
    expect(refusal({ ...commands.complete, fence: { ...fence, holder: 'former socket' } })).toBe('STALE_DELIVERY');
  });

  test('a report on a delivery that was not handed over is stale', () => {
    const queued = taskIn('SUBMITTED', { deliveryState: 'QUEUED', holder: null });
    expect(refusal({ ...commands.progress, fence: { agent: 'agent', delivery: 1 } }, queued)).toBe('STALE_DELIVERY');
  });

  test('a repeated n is answered and not stored, a leap is refused, the next one is stored', () => {
    expect(refusal({ ...commands.progress, n: 4 })).toBe('unchanged');
    expect(refusal({ ...commands.progress, n: 6 })).toBe('BAD_INPUT');
    expect(changed(taskIn('WORKING'), { ...commands.progress, n: 5 }).task.lastN).toBe(5);
  });
});

describe('the line', () => {
  const queued = taskIn('SUBMITTED', { deliveryState: 'QUEUED', holder: null, attempts: 0 });

  test('a new task waits in line', () => {
    const { task, lanes, events } = changedCreate({ lane: { running: { task: 'x', delivery: 1 } } });
    expect(task).toMatchObject({ state: 'SUBMITTED', delivery: 1, deliveryState: 'QUEUED' });
    expect(lanes[0]).toMatchObject({ waiting: 1, first: 'new' });
    expect(events.map(({ kind, to }) => [kind, to])).toEqual([
      ['STATUS', 'SUBMITTED'],
      ['MESSAGE', null],
      ['DELIVERY', 'QUEUED'],
    ]);
  });

  test('a new task with nobody ahead is handed over in the same decision', () => {
    const { task, lanes } = changedCreate({ taker });
    expect(task).toMatchObject({ deliveryState: 'DELIVERED', holder: 'other socket', attempts: 1 });
    expect(lanes[0]).toMatchObject({ waiting: 0, first: null, running: { task: 'new', delivery: 1 } });
  });

  test('a line of 9,999 is full', () => {
    const decision = decide(
      { task: undefined, lanes: [laneFor(queued, { waiting: 9_999, first: 'x' })] },
      commands.create,
      clock,
    );
    expect(decision).toMatchObject({ kind: 'refused', error: { code: 'QUEUE_FULL' } });
  });

  test('the first in line is taken when the place is free, and only then', () => {
    const line = { waiting: 2, first: 'key', running: null };
    expect(changed(queued, commands.take, laneFor(queued, line)).lanes[0]).toMatchObject({
      running: { task: 'key', delivery: 1 },
      waiting: 1,
      first: undefined, // known only to the database
    });
    expect(run(queued, commands.take, laneFor(queued, { ...line, running: { task: 'x', delivery: 1 } })).kind).toBe(
      'unchanged',
    );
    expect(run(queued, commands.take, laneFor(queued, { ...line, first: 'x' })).kind).toBe('unchanged');
  });

  test('the place is free at once when the agent ends its work', () => {
    expect(changed(taskIn('WORKING'), commands.complete).lanes[0]?.running).toBeNull();
    expect(changed(taskIn('WORKING'), commands.ask).lanes[0]?.running).toBeNull();
  });

  test.each(['cancel', 'timeOut', 'reassign'] as const)(
    'after %s the place stays taken until it is released',
    (kind) => {
      const { task, lanes, changes } = changed(taskIn('WORKING'), commands[kind]);
      expect(lanes[0]?.running).toEqual({ task: 'key', delivery: 1 });
      expect(changes).toContainEqual({ kind: 'deadline', deadline: 'PLACE', number: 1, afterSeconds: 15 });
      expect(changed(task, commands.release, lanes[0]).lanes[0]?.running).toBeNull();
    },
  );

  test('a queued delivery is simply closed', () => {
    const { lanes, task } = changed(queued, commands.cancel, laneFor(queued, { waiting: 1, first: 'key' }));
    expect(task).toMatchObject({ state: 'CANCELED', deliveryState: 'ENDED' });
    expect(lanes[0]).toMatchObject({ waiting: 0, first: null, running: null });
  });

  test('an answer goes first within its priority', () => {
    const answered = changed(taskIn('INPUT_REQUIRED'), commands.followUp).task;
    const fresh = changedCreate({}).task;
    expect(answered).toMatchObject({ state: 'WORKING', delivery: 2, deliveryState: 'QUEUED' });
    expect(answered.rank).toBeLessThan(fresh.rank);
  });

  const changedCreate = ({ lane = {}, ...more }: { lane?: Partial<LaneHead>; taker?: typeof taker }) => {
    const decision = decide(
      { task: undefined, lanes: [laneFor(queued, lane)] },
      { ...commands.create, ...more },
      clock,
    );
    if (decision.kind !== 'changed') throw new Error(decision.kind);
    return decision.draft;
  };
});

describe('an agent that does not come back', () => {
  const lostIn = (deliveryState: 'DELIVERED' | 'ACKED' | 'WORKING', change: Partial<TaskHead> = {}) =>
    taskIn(deliveryState === 'WORKING' ? 'WORKING' : 'SUBMITTED', { deliveryState, holder: null, ...change });
  const patient = { ...executor, whenLost: 'REQUEUE' } as const;

  test('what it had not acknowledged goes back to its place in line', () => {
    expect(changed(lostIn('DELIVERED'), commands.requeue).task).toMatchObject({
      delivery: 2,
      deliveryState: 'QUEUED',
      rank: 7,
    });
  });

  test('what it had acknowledged fails, or goes back, as the agent was registered', () => {
    expect(changed(lostIn('WORKING'), commands.requeue).events.at(-1)).toMatchObject({
      to: 'FAILED',
      payload: { reason: 'AGENT_LOST' },
    });
    expect(changed(lostIn('WORKING', { executor: patient }), commands.requeue).task).toMatchObject({
      state: 'WORKING',
      deliveryState: 'QUEUED',
    });
  });

  test('three attempts are enough', () => {
    const { events } = changed(lostIn('WORKING', { executor: patient, attempts: 3 }), commands.requeue);
    expect(events.at(-1)).toMatchObject({ to: 'FAILED', payload: { reason: 'TOO_MANY_ATTEMPTS' } });
  });

  test('an answer that nobody acknowledged in time fails the task', () => {
    const { events } = changed(lostIn('DELIVERED', { state: 'WORKING' }), commands.expire);
    expect(events.at(-1)).toMatchObject({ to: 'FAILED', payload: { reason: 'AGENT_UNREACHABLE' } });
  });
});

describe('the ledger', () => {
  const turn = { text: 'lo', before: { text: 'hel', before: null } };
  const messages = (command: Command) =>
    changed(taskIn('WORKING', { turn }), command).events.flatMap((event) =>
      event.kind === 'MESSAGE' ? [event.payload.message] : [],
    );

  test("a turn's texts become one message", () => {
    expect(messages(commands.complete)).toMatchObject([
      { id: 'fresh', author: 'AGENT', authorName: 'echo', parts: [{ text: 'hello' }] },
    ]);
  });

  test("the final report's own message is the turn's", () => {
    const own = { ...message, id: 'own', author: 'AGENT' as const };
    expect(messages({ ...commands.complete, message: own })).toEqual([own]);
  });
});
