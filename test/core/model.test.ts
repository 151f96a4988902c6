import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Command } from '../../src/core/command.ts';
import { DomainError } from '../../src/core/domain-error.ts';
import type { Executor, TaskHead } from '../../src/core/head.ts';
import { readTasks } from '../../src/store/heads.ts';
import { useDatabase } from '../support/database.ts';
import { asking, createModel, held, laneOf, type ModelTask, table, terminal } from '../support/model.ts';
import { createWorld, message } from '../support/world.ts';

// Random commands of a requester, two agents, a dispatcher and patrols, over a few tasks in two contexts. One by one they
// must do what the model says; thrown in together they must leave tables that agree with each other.

const seed = 20_261_118;
const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
let client: pg.Client;
let agents: [Executor, Executor];

beforeAll(async () => {
  world = await createWorld(database);
  client = new pg.Client(database.url);
  await client.connect();
  const patient = randomUUID();
  await client.query(
    `insert into agent (id, network_id, owner_id, name, when_lost, max_attempts)
     select $1, network_id, owner_id, 'patient', 'REQUEUE', 2 from agent where id = $2`,
    [patient, world.agent],
  );
  const { executor } = world.create('').created;
  agents = [executor, { ...executor, id: patient, name: 'patient', whenLost: 'REQUEUE', maxAttempts: 2 }];
});
afterAll(async () => {
  await client.end();
  await world.close();
});

// Tasks of the same age stand in line by their keys, which are random here: no two moments are the same.
let moment = Date.now();
beforeEach(() => {
  vi.spyOn(Date, 'now').mockImplementation(() => {
    moment += 1;
    return moment;
  });
});
afterEach(() => vi.restoreAllMocks());

// --- what may happen

type Step = {
  do: Command['kind'];
  task: number;
  agent?: number;
  priority?: 'HIGH' | 'NORMAL' | 'LOW';
  taken?: boolean;
  fence?: 'own' | 'unheld' | 'former connection' | 'other delivery' | 'other agent';
  n?: 'next' | 'again' | 'leap';
  state?: 'INPUT_REQUIRED' | 'AUTH_REQUIRED';
  text?: string;
  delivery?: 'now' | 'former' | 'next';
};

const contextOf = [0, 0, 0, 1];
const task = fc.nat({ max: contextOf.length - 1 });
const agent = fc.nat({ max: 1 });
const mostly = <const First, const Other>(first: First, ...others: Other[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(first) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const stepOf = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Step> =>
  (fc.record(fields) as fc.Arbitrary<Step>).map(readable);
/** So that a counterexample reads as a list of deeds. */
const readable = (step: Step): Step =>
  Object.defineProperty(step, fc.toStringMethod, {
    value: () => {
      const matters = (name: string) => (tells[step.do] ?? ['fence', 'n']).includes(name as keyof Step);
      const words = Object.entries(step).flatMap(([name, value]) =>
        value !== undefined && matters(name) ? `${name}: ${value}` : [],
      );
      return `\n  ${step.do} task ${step.task}${words.length > 0 ? ` (${words.join(', ')})` : ''}`;
    },
  });
const tells: Partial<Record<Step['do'], (keyof Step)[]>> = {
  create: ['agent', 'priority', 'taken'],
  followUp: [],
  cancel: [],
  retry: [],
  reassign: ['agent'],
  progress: ['fence', 'n', 'text'],
  ask: ['fence', 'n', 'state', 'text'],
  take: [],
  resume: ['delivery'],
  lose: ['delivery'],
  release: ['delivery'],
  requeue: ['delivery'],
  expire: ['delivery'],
  timeOut: ['delivery'],
  giveUp: ['delivery'],
};

const deeds = (...all: Command['kind'][]) => fc.constantFrom(...all);
const priority = fc.constantFrom('NORMAL', 'NORMAL', 'HIGH', 'LOW');
const birth = stepOf({ do: deeds('create'), task, agent, priority, taken: fc.boolean() });
const fence = mostly('own', 'unheld', 'former connection', 'other delivery', 'other agent');
const n = mostly(undefined, 'next', 'next', 'next', 'again', 'leap');
const state = fc.constantFrom('INPUT_REQUIRED', 'AUTH_REQUIRED');
const text = fc.constantFrom('so ', 'far ', undefined);
const delivery = mostly('now', 'former', 'next');
const step = fc.oneof(
  { weight: 1, arbitrary: birth },
  { weight: 4, arbitrary: stepOf({ do: deeds('followUp', 'followUp', 'cancel', 'retry'), task }) },
  { weight: 1, arbitrary: stepOf({ do: deeds('reassign'), task, agent }) },
  {
    weight: 7,
    arbitrary: stepOf({ do: deeds('acknowledge', 'progress', 'progress', 'artifact', 'say'), task, fence, n, text }),
  },
  { weight: 2, arbitrary: stepOf({ do: deeds('ask'), task, fence, n, state, text }) },
  { weight: 3, arbitrary: stepOf({ do: deeds('complete', 'fail', 'reject', 'stop'), task, fence, n }) },
  { weight: 6, arbitrary: stepOf({ do: deeds('take'), task }) },
  { weight: 5, arbitrary: stepOf({ do: deeds('resume', 'lose', 'lose', 'release', 'release'), task, delivery }) },
  { weight: 4, arbitrary: stepOf({ do: deeds('requeue', 'requeue', 'expire', 'timeOut', 'giveUp'), task, delivery }) },
);
/** Left to itself fast-check prefers short lists, in which hardly anything comes to pass. */
const size = 'max';

// Steps by themselves seldom fall in place, so that most would only be refused: some come as they do in life.
const scripts: Command['kind'][][] = [
  ['take', 'acknowledge', 'progress'],
  ['take', 'progress', 'acknowledge', 'artifact'],
  ['take', 'ask', 'followUp'],
  ['take', 'ask', 'progress'],
  ['take', 'reassign', 'release', 'take'],
  ['take', 'ask', 'lose', 'requeue'],
  ['take', 'lose', 'requeue', 'take'],
  ['take', 'acknowledge', 'lose', 'requeue'],
  ['lose', 'resume'],
  ['ask', 'giveUp', 'release'],
  ['cancel', 'release', 'retry'],
  ['timeOut', 'release', 'retry'],
  ['expire', 'release', 'retry', 'take'],
  ['complete'],
];
const script = fc
  .record({ deeds: fc.constantFrom(...scripts), task, agent, state, n: fc.constantFrom(undefined, 'next'), text })
  .map(({ deeds: all, ...more }) =>
    all.map((deed) => {
      const delivery = deed === 'release' && all.includes('reassign') ? 'former' : 'now';
      return readable({ do: deed, fence: 'own', delivery, ...more } as Step);
    }),
  );
const steps = (most: number) =>
  fc
    .array(
      fc.oneof(
        step.map((each) => [each]),
        script,
      ),
      { minLength: 1, maxLength: most, size },
    )
    .map((parts) => parts.flat());

const births = fc.uniqueArray(birth, { minLength: 2, maxLength: 4, size, selector: (each) => each.task });

/** A few tasks to be, and how a step becomes a command about one of them. */
const startRun = async () => {
  const contexts = [await world.newContext(), await world.newContext()];
  const slots = contextOf.map((context) => ({
    create: world.create(contexts[context] ?? ''),
    holder: randomUUID(),
    chunks: 0,
  }));
  type Known = Pick<ModelTask, 'delivery' | 'lastN' | 'executor'>;

  const commandOf = async (each: Step, know: (key: string) => Known | undefined): Promise<Command> => {
    const slot = slots[each.task];
    if (!slot) throw new Error(`There is no slot ${each.task}`);
    const { create, holder } = slot;
    const key = create.task;
    const known = know(key) ?? { delivery: 1, lastN: 0, executor: agents[0] };
    const number = known.delivery + (each.delivery === 'former' ? -1 : each.delivery === 'next' ? 1 : 0);
    const taker = { holder, instance: world.network };
    const executor = agents[each.agent === 1 ? 1 : 0];
    const other = agents.find(({ id }) => id !== known.executor.id) ?? agents[0];
    const said = each.text === undefined ? {} : { text: each.text };
    const report = {
      task: key,
      fence: {
        agent: each.fence === 'other agent' ? other.id : known.executor.id,
        delivery: known.delivery - (each.fence === 'other delivery' ? 1 : 0),
        ...(each.fence !== 'unheld' && { holder: each.fence === 'former connection' ? randomUUID() : holder }),
      },
      ...(each.n && { n: known.lastN + { again: 0, next: 1, leap: 2 }[each.n] }),
    };
    switch (each.do) {
      case 'create': {
        const created = { ...create.created, executor, priority: each.priority ?? 'NORMAL' };
        return { ...create, created, ...(each.taken && { taker }) };
      }
      case 'followUp':
        return { kind: 'followUp', task: key, actor: 'ada', message: message('more') };
      case 'cancel':
        return { kind: 'cancel', task: key, actor: 'ada', reason: 'REQUESTED' };
      case 'retry':
        return { kind: 'retry', task: key, actor: 'ada' };
      case 'reassign':
        return { kind: 'reassign', task: key, actor: 'ada', executor };
      case 'progress':
        return { kind: 'progress', ...report, ...said };
      case 'artifact': {
        slot.chunks += 1;
        const chunk = { artifactId: 'a', parts: [{ text: 'x' }], append: slot.chunks % 4 > 0, lastChunk: false };
        return { kind: 'artifact', ...report, chunk };
      }
      case 'say':
        return { kind: 'say', ...report, message: message('by the way') };
      case 'ask': {
        return { kind: 'ask', ...report, state: each.state ?? 'INPUT_REQUIRED', ...said };
      }
      case 'acknowledge':
      case 'complete':
      case 'stop':
        return { kind: each.do, ...report };
      case 'fail':
      case 'reject':
        return { kind: each.do, ...report, reason: 'SO' };
      case 'take':
        return { kind: 'take', task: key, agent: known.executor.id, taker };
      case 'resume':
        return { kind: 'resume', task: key, agent: known.executor.id, delivery: number, taker };
      case 'lose':
        return { kind: 'lose', task: key, delivery: number, holder };
      case 'release': {
        // As the dispatcher does: the row of the delivery tells whose it was.
        const text = 'select agent_id from delivery where task_key = $1 and number = $2';
        const { rows } = await client.query(text, [key, number]);
        return { kind: 'release', task: key, delivery: number, agent: rows[0]?.agent_id ?? known.executor.id };
      }
      default:
        return { kind: each.do, task: key, delivery: number };
    }
  };
  return { contexts, keys: slots.map(({ create }) => create.task), commandOf };
};

// --- one by one

test('commands one by one do what the model says', { timeout: 110_000 }, async () => {
  const sequence = fc.tuple(births, steps(40)).map((parts) => parts.flat());
  const property = fc.asyncProperty(sequence, async (all) => {
    const { contexts, keys, commandOf } = await startRun();
    const model = createModel();
    for (const each of all) {
      const command = await commandOf(each, (key) => model.tasks.get(key));
      const refusal = model.apply(command);
      const answer = await world.writer.submit(command).catch(refused);
      expect(typeof answer === 'string' ? answer : undefined, `the answer to ${each.do}`).toBe(refusal);
      const expected = model.tasks.get(command.task);
      if (typeof answer !== 'string')
        expect(summaryOf(answer.task), `the task after ${each.do}`).toEqual(expected && summaryOf(expected));
      expect(await readLanes(contexts), `the lanes after ${each.do}`).toEqual(model.lanes());
    }
    const heads = await checkTables(contexts, keys);
    for (const head of heads) {
      const expected = model.tasks.get(head.key);
      expect(summaryOf(head)).toEqual(expected && summaryOf(expected));
      const log = await world.readLog(head.key);
      expect(log.flatMap(({ kind, from, to }) => (kind === 'STATUS' ? [[from, to]] : []))).toEqual(expected?.statuses);
      const { rows } = await client.query(
        `select outcome from delivery where task_key = $1 and outcome is not null order by number`,
        [head.key],
      );
      expect(rows.map(({ outcome }) => outcome)).toEqual(expected?.outcomes);
    }
  });
  await fc.assert(property, { seed, numRuns: 80 });
});

const refused = (error: unknown): string => {
  if (error instanceof DomainError) return error.code;
  throw error;
};

const summaryOf = ({
  key,
  state,
  run,
  delivery,
  deliveryState,
  holder,
  lastN,
  attempts,
  generation,
  executor,
}: TaskHead | ModelTask) => ({
  key,
  state,
  run,
  delivery,
  deliveryState,
  holder,
  lastN,
  attempts,
  generation,
  executor: executor.name,
});

// --- all at once

test('commands that are thrown in together leave tables that agree', { timeout: 110_000 }, async () => {
  const groups = fc.array(steps(6), { minLength: 1, maxLength: 12, size });
  const property = fc.asyncProperty(births, groups, async (first, rest) => {
    const { contexts, keys, commandOf } = await startRun();
    const heads = new Map<string, TaskHead>();
    for (const group of [first, ...rest]) {
      const commands: Command[] = [];
      for (const each of group) commands.push(await commandOf(each, (key) => heads.get(key)));
      const answers = await Promise.all(commands.map((command) => world.writer.submit(command).catch(refused)));
      for (const answer of answers)
        if (typeof answer !== 'string' && answer.task.seq >= (heads.get(answer.task.key)?.seq ?? 0))
          heads.set(answer.task.key, answer.task);
    }
    for (const head of await checkTables(contexts, keys)) {
      const remembered = heads.get(head.key);
      const turn = head.state === 'WORKING' ? remembered?.turn : null;
      expect(head, 'the head as it is stored').toEqual({ ...remembered, turn });
    }
  });
  await fc.assert(property, { seed, numRuns: 100 });
});

// --- what the tables say

type Lanes = Record<string, { running: { task: string; delivery: number } | null; line: string[] }>;

const readLanes = async (contexts: string[]): Promise<Lanes> => {
  const { rows } = await client.query(
    `select agent_id || '/' || context_key as name, running, running_delivery, waiting, head,
       array(select task_key::text from waiting w where (w.agent_id, w.context_key) = (l.agent_id, l.context_key) order by rank, task_key) as line
     from lane l where context_key = any($1)`,
    [contexts],
  );
  return Object.fromEntries(
    rows.map(({ name, running, running_delivery, waiting, head, line }) => {
      expect({ waiting, head }, 'the lane counts its line').toEqual({ waiting: line.length, head: line[0] ?? null });
      return [name, { running: running && { task: running, delivery: running_delivery }, line }];
    }),
  );
};

const checkTables = async (contexts: string[], keys: string[]): Promise<TaskHead[]> => {
  const lanes = await readLanes(contexts);
  const heads = await readTasks(client, keys);
  const select = async (from: string) =>
    (await client.query(`select * from ${from} and task_key = any($1)`, [keys])).rows;
  const deliveries = await select('delivery where true');
  const deadlines = await select('deadline where true');
  const waiting = await select('waiting where true');
  const artifacts = await select('artifact where true');
  const feed = (await client.query('select * from feed where task_key = any($1) order by xid', [keys])).rows;

  for (const [name, { running, line }] of Object.entries(lanes)) {
    expect(running !== null || line.length > 0, 'a lane without anybody is gone').toBe(true);
    if (!running) continue;
    const has = deliveries.find(({ task_key, number }) => task_key === running.task && number === running.delivery);
    expect(has?.state, 'whoever has a place was handed over').not.toBe('QUEUED');
    expect(name.startsWith(has?.agent_id), 'whoever has a place is of that lane').toBe(true);
    if (has?.state === 'ENDED') expect(has.outcome).toMatch(/CANCELED|FAILED|EXPIRED|REASSIGNED/);
  }
  for (const head of heads) {
    const { key, delivery: number } = head;
    const log = await world.readLog(key);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(head.seq).toBe(log.length);
    expect(world.told.get(key)?.map(({ seq, kind, from, to, payload }) => ({ seq, kind, from, to, payload }))).toEqual(
      log,
    );
    let fed = 0;
    for (const { from_seq, to_seq } of feed.filter(({ task_key }) => task_key === key)) {
      expect(from_seq, 'the feed has no gap').toBe(fed + 1);
      fed = to_seq;
    }
    expect(fed).toBe(log.length);

    let before: string | null = null;
    let runs = 0;
    for (const { kind, from, to, payload } of log) {
      if (before && terminal.includes(before))
        expect([kind, to], 'only a reopening follows the end').toEqual(['STATUS', 'SUBMITTED']);
      if (kind !== 'STATUS') continue;
      expect(from).toBe(before);
      if (from) expect(table[from as keyof typeof table]).toContain(to);
      if (!from || payload.reason === 'RETRIED' || payload.reason === 'REASSIGNED') runs += 1;
      before = to;
    }
    expect({ state: before, run: runs }).toEqual({ state: head.state, run: head.run });
    const changes = log.filter(
      ({ kind, from, to }) => kind === 'ARTIFACT' || (kind === 'STATUS' && from && from !== to),
    );
    expect(head.generation).toBe(1 + changes.length);

    const own = deliveries.filter(({ task_key }) => task_key === key).sort((a, b) => a.number - b.number);
    expect(own.map((each) => each.number)).toEqual(own.map((_, index) => index + 1));
    expect(own.filter((each) => each.state !== 'ENDED' && each.number !== number)).toEqual([]);
    expect(own.at(-1)).toMatchObject({
      number,
      state: head.deliveryState,
      agent_id: head.executor.id,
      holder: head.holder,
    });
    for (const { number: each, state: now, outcome } of own) {
      const lines = log.filter(({ kind, payload }) => kind === 'DELIVERY' && payload.number === each);
      expect(lines.map(({ from }) => from)).toEqual([null, ...lines.slice(0, -1).map(({ to }) => to)]);
      expect([lines.at(-1)?.to, lines.at(-1)?.payload.outcome ?? null]).toEqual([now, outcome]);
    }

    const isHeld = held.includes(head.deliveryState);
    const isAsking = asking.includes(head.state);
    const places = Object.values(lanes).flatMap(({ running }) => (running?.task === key ? [running.delivery] : []));
    if (!isHeld) expect(head.holder).toBeNull();
    if (isHeld) expect(lanes[laneOf(head)]?.running).toEqual({ task: key, delivery: number });
    expect(
      waiting
        .filter(({ task_key }) => task_key === key)
        .map(({ agent_id, context_key, rank }) => [agent_id, context_key, Number(rank)]),
    ).toEqual(head.deliveryState === 'QUEUED' ? [[head.executor.id, head.context, head.rank]] : []);

    const reopened = log.findLastIndex(({ to }) => to === 'SUBMITTED');
    const chunks = log.slice(reopened).filter(({ kind }) => kind === 'ARTIFACT');
    const anew = chunks.slice(
      Math.max(
        0,
        chunks.findLastIndex(({ payload }) => !payload.append),
      ),
    );
    expect(
      artifacts
        .filter(({ task_key }) => task_key === key)
        .map(({ first_seq, last_seq, size, run }) => [first_seq, last_seq, size, run]),
    ).toEqual(anew.length > 0 ? [[anew[0]?.seq, anew.at(-1)?.seq, anew.length, head.run]] : []);

    const due = (kind: string) =>
      deadlines
        .filter((each) => each.task_key === key && each.kind === kind)
        .map((each) => each.number)
        .sort((a, b) => a - b);
    expect(due('INPUT'), 'the deadline of a question').toEqual(isAsking ? [number] : []);
    const isPaused = head.state === 'AUTH_REQUIRED' && head.deliveryState === 'WORKING';
    expect(due('TURN'), 'the deadline of a turn').toEqual(isHeld && !isPaused ? [number] : []);
    expect(due('GRACE'), 'the deadline of a lost connection').toEqual(isHeld && !head.holder ? [number] : []);
    expect(due('PLACE'), 'the deadline of a kept place').toEqual(
      places.filter((each) => each !== number || !isHeld).sort((a, b) => a - b),
    );
    if (head.deliveryState === 'DELIVERED')
      expect(due('TTL'), 'the deadline of what is not acknowledged').toEqual([number]);
    for (const each of due('TTL'))
      expect([each, head.deliveryState]).toEqual([number, expect.stringMatching(/QUEUED|DELIVERED/)]);
  }
  return heads;
};
