import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Random } from '../random.ts';
import { planOf } from './script.ts';
import type { Submit } from './submit.ts';

// People who answer the agents' questions: at once or late, several of them, some sending the same words twice, the second
// time by the other instance. Both instances look for questions at the same moments, so that their answers meet.

/** The message has its id as its author, too, so that the log tells which one was the answer. */
export type Answer = { task: string; id: string };

type Options = { random: Random; pool: pg.Pool; submit: Submit; sendElsewhere: (answer: Answer) => void };

const lookMs = 400;

export const createAnswers = ({ random, pool, submit, sendElsewhere }: Options) => {
  let isStopped = false;

  const send = ({ task, id }: Answer): void => {
    const message = {
      id,
      author: 'USER',
      authorName: id,
      kind: 'TASK',
      parts: [{ text: 'answer' }],
      inReplyTo: null,
      metadata: {},
    } as const;
    void submit({ kind: 'followUp', task, actor: id, message: { ...message, parts: [...message.parts] } }).catch(
      () => undefined,
    );
  };

  const sendLater = async (task: string): Promise<void> => {
    await sleep(random.chance(0.5) ? 0 : random.between(100, 4_000)); // past the time-out, too
    const answer = { task, id: randomUUID() };
    const ways = random.next();
    send(answer);
    if (ways < 0.15) sendElsewhere(answer);
    else if (ways < 0.25) send(answer);
  };

  const look = async (): Promise<void> => {
    const { rows } = await pool.query(
      `select key from task where state in ('INPUT_REQUIRED', 'AUTH_REQUIRED') and finished_at is null limit 40`,
    );
    for (const { key } of rows) if (!planOf(key).isIgnored && random.chance(0.3)) void sendLater(key);
  };

  return {
    send,
    async run() {
      while (!isStopped) {
        await sleep(lookMs - (Date.now() % lookMs));
        await look().catch(() => undefined);
      }
    },
    stop() {
      isStopped = true;
    },
  };
};
