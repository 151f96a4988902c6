import { fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Command } from '../../src/core/command.ts';
import type { TestDatabase } from './database.ts';
import { until } from './until.ts';

type Outcome = { state?: string; deliveryState?: string; holder?: string | null; code?: string };

/** A writer process, and a way to know that its flush waits for a lock. */
export const startWriter = async ({ url, query }: TestDatabase, name: string) => {
  const own = Object.assign(new URL(url), { search: `?application_name=${name}` }).href;
  const child = fork('test/support/writer-process.ts', [own], { execArgv: ['--import=tsx'] });
  const answers = new Map<number, (outcome: Outcome) => void>();
  let count = 0;
  child.on('message', (message: { id: number; outcome: Outcome }) => answers.get(message.id)?.(message.outcome));
  await once(child, 'message');
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });
  const isWaiting = async () =>
    (await query("select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'", [name]))
      .rowCount === 1;
  return {
    submit: (command: Command): Promise<Outcome> =>
      new Promise((resolve) => {
        count += 1;
        answers.set(count, resolve);
        child.send({ id: count, command });
      }),
    waits: () => until(isWaiting, `${name} to wait for a lock`),
  };
};
