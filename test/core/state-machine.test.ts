import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { deliveryStates, deliveryTransitions } from '../../src/core/delivery-state.ts';
import { isTerminal, mayMove, restless, taskStates, transitions } from '../../src/core/task-state.ts';
import { useDatabase } from '../support/database.ts';

const pairs = taskStates.flatMap((from) => taskStates.map((to) => ({ from, to })));

describe('the diagrams in docs/state-machine.md are the tables', () => {
  const [tasks = '', deliveries = ''] = readFileSync('docs/state-machine.md', 'utf8').split('## Deliveries');
  const drawn = (page: string) =>
    new Set([...page.matchAll(/^ {2}([A-Z_]+) --> ([A-Z_]+)/gm)].map(([, a, b]) => `${a} ${b}`));

  test('tasks', () => {
    expect(drawn(tasks)).toEqual(new Set(taskStates.flatMap((from) => transitions[from].map((to) => `${from} ${to}`))));
  });

  test('deliveries', () => {
    const table = deliveryStates.flatMap((from) => deliveryTransitions[from].map((to) => `${from} ${to}`));
    expect(drawn(deliveries)).toEqual(new Set(table));
  });
});

describe('the database refuses what the table refuses', () => {
  const { query } = useDatabase();
  const [network, user, agent, context] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];

  beforeAll(async () => {
    await query('insert into network (id, name) values ($1, $2)', [network, 'n']);
    await query('insert into "user" (id, network_id, name) values ($1, $2, $3)', [user, network, 'u']);
    await query('insert into agent (id, network_id, owner_id, name) values ($1, $2, $3, $4)', [
      agent,
      network,
      user,
      'a',
    ]);
    await query('insert into context (key, network_id, owner_id, id) values ($1, $2, $3, $4)', [
      context,
      network,
      user,
      'c',
    ]);
  });

  const insertTask = async (state: string): Promise<string> => {
    const key = randomUUID();
    await query(
      `insert into task (key, network_id, id, context_key, user_id, requester_id, requester_is_agent, requester_name, agent_id,
         agent_name, root_key, priority, state, run, last_seq, generation, delivery, delivery_state, last_n, rank, attempts, turn_seq,
         created_at, updated_at, status_at, finished_at)
       values ($1, $2, $1, $3, $4, $4, false, 'u', $5, 'a', $1, 'NORMAL', $6, 1, 5, 1, 1, 'ENDED', 0, 0, 0, 1, now(), now(), now(), $7)`,
      [key, network, context, user, agent, state, isTerminal(state as never) ? new Date() : null],
    );
    return key;
  };

  test.each(pairs)('a STATUS event from $from to $to', async ({ from, to }) => {
    const key = await insertTask('WORKING');
    const insert = query(
      `insert into event (task_key, seq, first_seq, kind, "from", "to", actor, at, payload)
       values ($1, 1, 1, 'STATUS', $2, $3, 'system', now(), '{}')`,
      [key, from, to],
    );
    const isLegal = mayMove(from, to) || (from === to && restless.includes(from));
    if (isLegal) await insert;
    else await expect(insert).rejects.toMatchObject({ code: '23514', constraint: 'event_status_check' });
  });

  test.each(taskStates)('a first STATUS event that says %s', async (to) => {
    const key = await insertTask('WORKING');
    const insert = query(
      `insert into event (task_key, seq, first_seq, kind, "to", actor, at, payload) values ($1, 1, 1, 'STATUS', $2, 'system', now(), '{}')`,
      [key, to],
    );
    if (to === 'SUBMITTED') await insert;
    else await expect(insert).rejects.toMatchObject({ constraint: 'event_status_check' });
  });

  test.each(taskStates.filter(isTerminal))('a change of a task that is %s, but for a new run', async (state) => {
    const key = await insertTask(state);
    await expect(query('update task set last_seq = 6 where key = $1', [key])).rejects.toMatchObject({ code: 'BA001' });
    const reopen = query(
      `update task set run = 2, last_seq = 6, state = 'SUBMITTED', finished_at = null, delivery = 2, delivery_state = 'QUEUED' where key = $1`,
      [key],
    );
    if (state === 'COMPLETED') await expect(reopen).rejects.toMatchObject({ code: 'BA001' });
    else await reopen;
  });

  test('a seq or a run that goes back, and a run that leaps', async () => {
    const key = await insertTask('WORKING');
    const refused = (change: string) =>
      expect(query(`update task set ${change} where key = $1`, [key])).rejects.toMatchObject({ code: 'BA002' });
    await refused('last_seq = 4');
    await refused('run = 3');
    await query('update task set run = 2, last_seq = 6 where key = $1', [key]);
    await refused('run = 1');
  });
});
