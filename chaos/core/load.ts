import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Taker } from '../../src/core/command.ts';
import type { Executor, TaskHead } from '../../src/core/head.ts';
import type { Random } from '../random.ts';
import { planOf } from './script.ts';
import { newOp, type Submit } from './submit.ts';
import { type InstanceOrders, timing } from './world.ts';

// People who ask for work, and change their minds: also about tasks that were sent to the other instance.

type Options = {
  orders: InstanceOrders;
  random: Random;
  pool: pg.Pool;
  submit: Submit;
  takerOf: (agent: string) => Taker;
  handOver: (task: TaskHead) => void;
};

const mostOpen = 70; // in all, so that the end can be waited for
const burstMs = 500; // all instances burst at the same moments: their batches meet

export const createLoad = ({ orders, random, pool, submit, takerOf, handOver }: Options) => {
  let isStopped = false;
  let recent: string[] = [];
  let open = 0;
  const pick = <T>(list: T[]): T | undefined => list[random.between(0, list.length - 1)];
  const quietly = (answer: Promise<unknown>): void => void answer.catch(() => undefined);

  const create = (): void => {
    const [agent, context] = [pick(orders.agents), pick(orders.contexts)];
    if (!agent || !context) return;
    const [key, op] = [randomUUID(), newOp()];
    const { hangs, ttlSeconds } = planOf(key);
    const taker = random.chance(0.3) ? takerOf(agent.id) : undefined;
    const answer = submit({
      kind: 'create',
      task: key,
      created: {
        key,
        id: key,
        network: orders.network,
        context,
        contextId: context,
        root: key,
        parent: null,
        depth: 0,
        user: orders.user,
        requester: { id: orders.user, isAgent: false, name: op },
        executor: executorOf(agent),
        skill: null,
        priority: 'NORMAL',
        ttlSeconds,
        timeoutSeconds: hangs ? timing.hangSeconds : null,
        hold: null,
        metadata: {},
      },
      message: {
        id: randomUUID(),
        author: 'USER',
        authorName: op,
        kind: 'TASK',
        parts: [{ text: 'work' }],
        inReplyTo: null,
        metadata: {},
      },
      ...(taker && { taker }),
    });
    recent.push(key);
    quietly(answer.then(({ task }) => task.holder !== null && task.holder === taker?.holder && handOver(task)));
  };

  const change = (): void => {
    const [task, agent] = [pick(recent), pick(orders.agents)];
    if (!task || !agent) return;
    const [actor, dice] = [newOp(), random.next()];
    if (dice < 0.45) quietly(submit({ kind: 'cancel', task, actor, reason: 'CHAOS' }));
    else if (dice < 0.9) quietly(submit({ kind: 'retry', task, actor }));
    else if (orders.reassigns) quietly(submit({ kind: 'reassign', task, actor, executor: executorOf(agent) }));
  };

  /** What everybody has sent of late, and how much of it is open. */
  const look = async (): Promise<void> => {
    const { rows } = await pool.query('select key from task order by created_at desc limit 60');
    const { rows: counts } = await pool.query('select count(*)::int as open from task where finished_at is null');
    recent = rows.map(({ key }) => key);
    open = counts[0].open;
  };

  const run = async (): Promise<void> => {
    let looksAt = 0;
    let burstsAt = Math.ceil(Date.now() / burstMs) * burstMs;
    while (!isStopped) {
      await sleep(random.between(10, 60));
      if (Date.now() >= looksAt) {
        await look().catch(() => undefined);
        looksAt = Date.now() + 300;
      }
      const hasRoom = open < mostOpen && !isStopped;
      if (hasRoom && random.chance(0.3)) create();
      if (!isStopped && random.chance(0.25)) change();
      if (Date.now() < burstsAt || isStopped) continue;
      burstsAt = Math.ceil((Date.now() + 1) / burstMs) * burstMs;
      for (let count = 0; count < 6; count += 1) {
        if (hasRoom && count < 3) create();
        change();
      }
    }
  };

  return {
    run,
    stop() {
      isStopped = true;
    },
  };
};

const executorOf = ({ id, name }: { id: string; name: string }): Executor => ({
  id,
  name,
  isAsync: false,
  whenLost: 'REQUEUE',
  maxAttempts: timing.maxAttempts,
  graceSeconds: timing.graceSeconds,
  turnSeconds: timing.turnSeconds,
  capacity: null,
});
