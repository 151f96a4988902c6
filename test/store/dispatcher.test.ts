import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { createWorld } from '../support/world.ts';

const database = useDatabase();
let world: Awaited<ReturnType<typeof createWorld>>;
beforeAll(async () => {
  world = await createWorld(database);
});
afterAll(() => world.close());
beforeEach(async () => {
  await database.query('truncate task, lane, waiting, deadline, instance, feed cascade');
  world.handed.length = 0;
});

const row = async (sql: string, values: unknown[] = []) => (await database.query(sql, values)).rows[0];
const stateOf = (task: string) =>
  row('select state, reason, delivery, delivery_state, holder from task where key = $1', [task]);
/** Time passes for what falls due: by the database's clock alone. */
const fallDue = (task: string, kind: string) =>
  database.query(
    "update deadline set at = now() - interval '1 second' where task_key = $1 and kind = $2::deadline_kind",
    [task, kind],
  );
const submitted = async (context?: string) => {
  const create = world.create(context ?? (await world.newContext()));
  await world.writer.submit(create);
  return create.task;
};

test('work goes to a connected agent: contexts side by side, a context one at a time, in order', async () => {
  const [one, other] = [await world.newContext(), await world.newContext()];
  const [first, second] = [await submitted(one), await submitted(one)];
  const beside = await submitted(other);
  const { dispatch, holder } = world.createInstance();
  await dispatch();
  expect(world.handed.map(({ task }) => task).sort()).toEqual([first, beside].sort());
  await dispatch();
  expect(world.handed).toHaveLength(2);
  await world.writer.submit({ kind: 'complete', task: first, fence: { agent: world.agent, delivery: 1, holder } });
  await dispatch();
  expect(world.handed.at(-1)).toMatchObject({ task: second, delivery: 1, holder });
});

test('of two dispatchers that see the same work one hands it over', async () => {
  for (let n = 0; n < 20; n++) await submitted();
  const [one, other] = [world.createInstance(), world.createInstance()];
  await Promise.all([one.dispatch(), other.dispatch()]);
  expect(new Set(world.handed.map(({ task }) => task)).size).toBe(20);
  expect(world.handed).toHaveLength(20);
});

test('what nobody acknowledged in time expires, and its place in line is free', async () => {
  const task = await submitted();
  await fallDue(task, 'TTL');
  await world.createInstance().patrol();
  expect(await stateOf(task)).toMatchObject({ state: 'EXPIRED', reason: 'TTL' });
  expect(await row('select count(*)::int as lanes from lane')).toEqual({ lanes: 0 });
});

test('a turn that takes too long fails; its place is free when the agent had time to stop', async () => {
  const context = await world.newContext();
  const [task, next] = [await submitted(context), await submitted(context)];
  const { dispatch, patrol } = world.createInstance();
  await dispatch();
  await fallDue(task, 'TURN');
  await patrol();
  expect(await stateOf(task)).toMatchObject({ state: 'FAILED', reason: 'TIMEOUT' });
  await dispatch();
  expect(world.handed).toHaveLength(1);
  await fallDue(task, 'PLACE');
  await patrol();
  await dispatch();
  expect(world.handed.at(-1)).toMatchObject({ task: next });
});

test('a question that nobody answers is given up', async () => {
  const task = await world.working();
  await world.writer.submit({ kind: 'ask', task: task.key, fence: task.fence, state: 'INPUT_REQUIRED' });
  await fallDue(task.key, 'INPUT');
  await world.createInstance().patrol();
  expect(await stateOf(task.key)).toMatchObject({ state: 'CANCELED', reason: 'INPUT_TIMEOUT' });
});

test('an instance that stops renewing loses its deliveries; after the grace they go to another', async () => {
  const task = await submitted();
  const [dying, living] = [world.createInstance(), world.createInstance()];
  await dying.patrol();
  await dying.dispatch();
  await living.patrol();
  expect(await stateOf(task)).toMatchObject({ holder: dying.holder });

  await database.query("update instance set until = now() - interval '1 second' where boot_id = $1", [dying.instance]);
  await living.patrol();
  expect(await stateOf(task)).toMatchObject({ state: 'SUBMITTED', delivery_state: 'DELIVERED', holder: null });
  const zombie = { kind: 'complete', task, fence: { agent: world.agent, delivery: 1, holder: dying.holder } } as const;
  await expect(world.writer.submit(zombie)).rejects.toMatchObject({ code: 'STALE_DELIVERY' });

  await fallDue(task, 'GRACE');
  await living.patrol();
  await living.dispatch();
  expect(world.handed.at(-1)).toMatchObject({ task, delivery: 2, holder: living.holder });
  expect(await row('select count(*)::int as instances from instance where boot_id = $1', [dying.instance])).toEqual({
    instances: 0,
  });
});

test('an agent that comes back in time goes on with its delivery', async () => {
  const task = await world.working();
  await world.writer.submit({ kind: 'lose', task: task.key, delivery: 1, holder: task.holder });
  const { holder, instance, patrol } = world.createInstance();
  const back = { kind: 'resume', task: task.key, delivery: 1, taker: { holder, instance } } as const;
  await expect(world.writer.submit({ ...back, agent: holder })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await world.writer.submit({ ...back, agent: world.agent });
  await fallDue(task.key, 'GRACE');
  await patrol();
  await world.writer.submit({ kind: 'complete', task: task.key, fence: { ...task.fence, holder } });
  expect(await stateOf(task.key)).toMatchObject({ state: 'COMPLETED', delivery: 1 });
});

test('a deadline that no longer matters goes away, a newer one stays', async () => {
  const task = await submitted();
  await database.query("insert into deadline values ($1, 'TURN', 7, now()), ($1, 'INPUT', 1, now())", [task]);
  await world.createInstance().patrol();
  expect((await database.query('select kind from deadline where task_key = $1', [task])).rows).toEqual([
    { kind: 'TTL' },
  ]);
  expect(await stateOf(task)).toMatchObject({ state: 'SUBMITTED' });
});

test('an agent with a capacity is given no more at once, by two dispatchers, and more when it is done', async () => {
  await database.query('update agent set capacity = 2');
  try {
    for (let n = 0; n < 5; n++) await submitted();
    const [one, other] = [world.createInstance(), world.createInstance()];
    await Promise.all([one.dispatch(), other.dispatch()]);
    await Promise.all([one.dispatch(), other.dispatch()]);
    expect(world.handed).toHaveLength(2);
    const [first] = world.handed;
    const fence = { agent: world.agent, delivery: 1, holder: first?.holder ?? '' };
    await world.writer.submit({ kind: 'complete', task: first?.task ?? '', fence });
    await Promise.all([one.dispatch(), other.dispatch()]);
    expect(world.handed).toHaveLength(3);
  } finally {
    await database.query('update agent set capacity = null');
  }
});

test('work that was reassigned since a dispatcher looked is not taken for the former agent', async () => {
  const task = await submitted();
  const other = crypto.randomUUID();
  await database.query(
    "insert into agent (id, network_id, owner_id, name) select $1, network_id, owner_id, 'other' from agent where id = $2",
    [other, world.agent],
  );
  const { executor } = world.create('').created;
  await world.writer.submit({
    kind: 'reassign',
    task,
    actor: 'ada',
    executor: { ...executor, id: other, name: 'other' },
  });
  const taker = { holder: crypto.randomUUID(), instance: crypto.randomUUID() };
  const { task: head } = await world.writer.submit({ kind: 'take', task, agent: world.agent, taker });
  expect(head).toMatchObject({ deliveryState: 'QUEUED', holder: null });
});

test('an agent that confirms it stopped gives its place back, and the delivery tells when', async () => {
  const { key } = await world.working();
  await world.writer.submit({ kind: 'cancel', task: key, actor: 'ada', reason: 'REQUESTED' });
  expect(await row('select running from lane where running = $1', [key])).toEqual({ running: key });
  const release = { kind: 'release', task: key, delivery: 1, agent: world.agent } as const;
  await world.writer.submit({ ...release, isConfirmed: true });
  expect(await row('select confirmed_at is not null as confirmed from delivery where task_key = $1', [key])).toEqual({
    confirmed: true,
  });
  expect(await row('select running from lane where running = $1', [key])).toBeUndefined();
});

test('a lost delivery that nobody had acknowledged keeps its time to live; an acknowledged task never expires', async () => {
  const { dispatch, patrol, holder } = world.createInstance();
  const create = world.create(await world.newContext());
  const { task } = create;
  const executor = { ...create.created.executor, whenLost: 'REQUEUE' } as const;
  await world.writer.submit({ ...create, created: { ...create.created, executor, ttlSeconds: 600 } });
  const ttl = () => row("select number, at from deadline where task_key = $1 and kind = 'TTL'", [task]);
  const lose = async (delivery: number) => {
    await dispatch();
    if (delivery > 1)
      await world.writer.submit({ kind: 'acknowledge', task, fence: { agent: world.agent, delivery, holder } });
    await world.writer.submit({ kind: 'lose', task, delivery, holder });
    await fallDue(task, 'GRACE');
    await patrol();
  };
  const { at } = await ttl();
  await lose(1);
  expect(await ttl()).toEqual({ number: 2, at });
  await lose(2);
  expect(await stateOf(task)).toMatchObject({ state: 'SUBMITTED', delivery: 3, delivery_state: 'QUEUED' });
  await fallDue(task, 'TTL');
  await patrol();
  expect(await stateOf(task)).toMatchObject({ state: 'FAILED', reason: 'AGENT_UNREACHABLE' });
});
