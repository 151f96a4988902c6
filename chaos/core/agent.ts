import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskHead } from '../../src/core/head.ts';
import { createRandom } from '../random.ts';
import { type Drop, progressText } from './script.ts';
import type { Submit } from './submit.ts';
import { type Bookmark, workOn } from './turn.ts';

/** An agent with one connection for what it is handed, and a new one for each delivery that it comes back to. */
export type FakeAgent = { holder: string; handOver(task: TaskHead): void; comeBack(bookmark: Bookmark): void };

type Options = {
  agent: string;
  instance: string;
  /** The agent's reports. */
  submit: Submit;
  /** What the hub does for its connections. */
  hub: Submit;
  /** The agent connects to the other instance next. */
  sendAway: (bookmark: Bookmark) => void;
};

const noticedLateMs = 300;

export const createAgent = ({ agent, instance, submit, hub, sendAway }: Options): FakeAgent => {
  const holder = randomUUID();
  const known = new Set<string>();

  const work = (from: Bookmark, on: string): void =>
    void workOn({ from, holder: on, submit, onDrop: (drop, bookmark) => void lose(drop, bookmark, on) });

  const lose = async (drop: Drop, bookmark: Bookmark, old: string): Promise<void> => {
    const { task, delivery } = bookmark;
    const notice = () => hub({ kind: 'lose', task, delivery, holder: old }).catch(() => undefined);
    if (drop.goesOn) void goOn(bookmark, old);
    if (drop.isNoticed) await notice();
    await sleep(drop.afterMs);
    if (drop.isElsewhere) sendAway(bookmark);
    else await comeBack(bookmark);
    if (drop.isNoticed) return;
    await sleep(noticedLateMs);
    await notice();
  };

  /** What is still in the old connection. While nobody has noticed it counts; after that it must be refused. */
  const goOn = async ({ task, delivery }: Bookmark, old: string): Promise<void> => {
    const random = createRandom(delivery);
    for (let count = 0; count < 12; count += 1) {
      const text = progressText(delivery, `late ${count}`, old);
      void submit({ kind: 'progress', task, fence: { agent, delivery, holder: old }, text }).catch(() => undefined);
      await sleep(random.between(20, 120));
    }
  };

  const comeBack = async (bookmark: Bookmark): Promise<void> => {
    const { task, delivery } = bookmark;
    const fresh = randomUUID();
    const answer = await hub({ kind: 'resume', agent, task, delivery, taker: { holder: fresh, instance } }).catch(
      () => undefined,
    );
    if (answer) work(bookmark, fresh);
  };

  return {
    holder,
    handOver({ key, delivery }) {
      const name = `${key}:${delivery}`;
      if (known.has(name)) return;
      known.add(name);
      work({ task: key, agent, delivery, step: 0, n: 0, unanswered: [] }, holder);
    },
    comeBack: (bookmark) => void comeBack(bookmark),
  };
};
