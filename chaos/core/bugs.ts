import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { TaskHead } from '../../src/core/head.ts';
import type { LogStore } from '../../src/core/ports.ts';
import type { Reader } from '../patient-client.ts';
import type { Submit } from './submit.ts';
import type { Bug } from './world.ts';

// Known bugs, put in from outside. The checker has to catch each of them, or it is worth nothing.

/** no-fence: reports go to whatever delivery the task has now, whoever holds it. In order, and else unchanged. */
export const forgetFence = (pool: pg.Pool, submit: Submit): Submit => {
  const lines = new Map<string, Promise<unknown>>();
  const readDelivery = async (task: string): Promise<number> => {
    for (;;) {
      const found = await pool.query('select delivery from task where key = $1', [task]).catch(() => undefined);
      if (found) return found.rows[0].delivery;
      await sleep(20); // the database is away
    }
  };
  return async (command) => {
    if (!('fence' in command)) return submit(command);
    const { agent, delivery: own } = command.fence;
    const before = lines.get(`${command.task}:${own}`);
    const reading = Promise.all([readDelivery(command.task), before]).then(([delivery]) => delivery);
    lines.set(`${command.task}:${own}`, reading);
    const delivery = await reading;
    const { n, ...rest } = command;
    return submit({ ...rest, fence: { agent, delivery }, ...(n !== undefined && delivery === own && { n }) });
  };
};

/** no-holder: whoever knows the number of the delivery may report on it, also on a connection that was given up. */
export const forgetHolder =
  (submit: Submit): Submit =>
  (command) => {
    if (!('fence' in command)) return submit(command);
    const { agent, delivery } = command.fence;
    return submit({ ...command, fence: { agent, delivery } });
  };

/** cached-refusal: heads are read once; only a flush that was missed shows that they are old. */
export const rememberHeads = (store: LogStore): LogStore => {
  const heads = new Map<string, TaskHead>();
  return {
    ...store,
    async readTasks(keys) {
      const unknown = keys.filter((key) => !heads.has(key));
      if (unknown.length > 0) for (const head of await store.readTasks(unknown)) heads.set(head.key, head);
      return keys.flatMap((key) => heads.get(key) ?? []);
    },
    async flush(flush) {
      const missed = await store.flush(flush);
      for (const index of missed) for (const { head } of flush.groups[index]?.tasks ?? []) heads.delete(head.key);
      return missed;
    },
  };
};

/** The bugs of flush_v2. Each change has to find its place in the text, so that a bug cannot silently not be there. */
export const breakFlush = async (client: Reader, bug: Bug): Promise<void> => {
  const changes = textChanges[bug];
  if (!changes) return;
  const { rows } = await client.query(`select pg_get_functiondef('flush_v2'::regproc) as text`);
  let text: string = rows[0].text;
  for (const [right, wrong] of changes) {
    if (!text.includes(right)) throw new Error(`flush_v2 no longer says "${right}": write the bug ${bug} anew`);
    text = text.replace(right, wrong);
  }
  await client.query(text);
};

const textChanges: Partial<Record<Bug, [string, string][]>> = {
  // The pause between two locks only widens the window: without it the bug is as real, and seldom seen in a minute.
  'unordered-locks': [
    [
      'SELECT agent_id, context_key, version FROM lane',
      'SELECT agent_id, context_key, version, pg_sleep(0.01) FROM lane',
    ],
    [
      'ORDER BY agent_id, context_key FOR NO KEY UPDATE',
      'ORDER BY md5(agent_id::text || context_key::text || pg_backend_pid()) FOR NO KEY UPDATE',
    ],
    ['ORDER BY key FOR NO KEY UPDATE', 'ORDER BY md5(key::text || pg_backend_pid()) FOR NO KEY UPDATE'],
  ],
  'flush-id-ignored': [['task.root_key, flush_id', 'task.root_key, gen_random_uuid()']],
};
