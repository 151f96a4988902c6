import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '../../src/core/command.ts';
import { chunkText, type Drop, progressText, questionText, type Step, scriptOf } from './script.ts';
import type { Submit } from './submit.ts';

// One delivery on one connection: does what the script says from some step on, and stops when a report is refused.

type Report = Extract<Command, { fence: unknown }>;
type Unaddressed<R> = R extends Report ? Omit<R, 'task' | 'fence' | 'n'> : never;
type Said = { what: Unaddressed<Report>; n: number };

/** Where an agent is in a delivery: enough to go on with another connection. */
export type Bookmark = {
  task: string;
  agent: string;
  delivery: number;
  step: number;
  n: number;
  /** Reports whose answers were still out when the connection broke: stored or not. */
  unanswered: Said[];
};

type Options = {
  from: Bookmark;
  holder: string;
  submit: Submit;
  onDrop: (drop: Drop, bookmark: Bookmark) => void;
};

export const workOn = async ({ from, holder, submit, onDrop }: Options): Promise<void> => {
  const { task, agent, delivery } = from;
  const { isNumbered, steps } = scriptOf(task, delivery);
  let { n } = from;
  let isRefused = false;
  const out = new Set<Said>();
  let last: Promise<unknown> = Promise.resolve();

  const send = (said: Said): void => {
    out.add(said);
    const numbered = isNumbered && { n: said.n };
    const answered = submit({ ...said.what, task, fence: { agent, delivery, holder }, ...numbered } as Command).then(
      () => out.delete(said),
      () => {
        isRefused = true;
      },
    );
    last = Promise.all([last, answered]);
  };
  const report = (what: Unaddressed<Report>): Said => {
    n += 1;
    const said = { what, n };
    send(said);
    return said;
  };

  for (const said of from.unanswered) send(said);
  for (const [index, step] of steps.entries()) {
    if (index < from.step) continue;
    if (isPausing(step)) await last;
    if (isRefused) return;
    switch (step.do) {
      case 'think':
        await sleep(step.ms);
        break;
      case 'drop': {
        if (!isNumbered) await last; // without numbers nobody could tell what was stored
        onDrop(step.drop, { task, agent, delivery, step: index + 1, n, unanswered: [...out] });
        return;
      }
      case 'acknowledge':
        report({ kind: 'acknowledge' });
        break;
      case 'progress':
        report({ kind: 'progress', text: progressText(delivery, step.index, holder) });
        break;
      case 'chunk': {
        const said = report({ kind: 'artifact', chunk: chunkOf(step, chunkText(task, delivery, step.index, holder)) });
        if (step.isTwice) send(said);
        break;
      }
      case 'ask':
        report({ kind: 'ask', state: step.state, text: questionText(delivery, index, holder) });
        await last;
        break;
      case 'end':
        report(step.how === 'complete' ? { kind: 'complete' } : { kind: 'fail', reason: 'SCRIPTED' });
        break;
    }
  }
  await last;
};

/** Reports are sent without waiting for answers, up to where the agent thinks, asks or ends. */
const isPausing = (step: Step): boolean => step.do === 'think' || step.do === 'ask' || step.do === 'end';

const chunkOf = ({ index, isLast }: Extract<Step, { do: 'chunk' }>, text: string) => ({
  artifactId: 'out',
  parts: [{ text }],
  append: index > 0,
  lastChunk: isLast,
});
