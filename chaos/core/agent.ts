import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '../../src/core/command.ts';
import type { TaskHead } from '../../src/core/head.ts';
import { chunkText, progressText, scriptOf } from './script.ts';
import type { Submit } from './submit.ts';

/** An agent with one connection. It does what the task's script says, and drops a delivery when a report is refused. */
export type FakeAgent = { holder: string; handOver(task: TaskHead): void };

type Report = Extract<Command, { fence: unknown }>;
type Unaddressed<R> = R extends Report ? Omit<R, 'task' | 'fence' | 'n'> : never;

export const createAgent = ({ agent, submit }: { agent: string; submit: Submit }): FakeAgent => {
  const holder = randomUUID();
  const known = new Set<string>();

  const work = async ({ key, delivery }: TaskHead): Promise<void> => {
    const script = scriptOf(key);
    let n = 0;
    let isRefused = false;
    let last: Promise<void> = Promise.resolve();
    const report = (what: Unaddressed<Report>, isAgain = false): void => {
      if (!isAgain) n += 1;
      const numbered = script.isNumbered && { n };
      const command = { ...what, task: key, fence: { agent, delivery, holder }, ...numbered } as Command;
      const answered = submit(command).then(
        () => undefined,
        () => {
          isRefused = true;
        },
      );
      last = Promise.all([last, answered]).then(() => undefined);
    };

    report({ kind: 'acknowledge' });
    if (script.ending === 'hang') return last;
    for (let index = 0; index < script.chunks; index += 1) {
      const pauseMs = script.pausesMs[index] ?? 0;
      if (pauseMs > 0) {
        await last;
        await sleep(pauseMs);
      }
      if (isRefused) return;
      if (script.progress[index]) report({ kind: 'progress', text: progressText(delivery, index) });
      const parts = [{ text: chunkText(key, delivery, index) }];
      const chunk = { artifactId: 'out', parts, append: index > 0, lastChunk: index === script.chunks - 1 };
      report({ kind: 'artifact', chunk });
      if (script.twice[index]) report({ kind: 'artifact', chunk }, true);
    }
    await last;
    if (isRefused) return;
    report(script.ending === 'complete' ? { kind: 'complete' } : { kind: 'fail', reason: 'SCRIPTED' });
    await last;
  };

  return {
    holder,
    handOver(task) {
      const name = `${task.key}:${task.delivery}`;
      if (known.has(name)) return;
      known.add(name);
      void work(task);
    },
  };
};
