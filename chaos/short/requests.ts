import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { type Ask, documents } from './asking.ts';
import type { EventCopy } from './copy.ts';
import { planOf } from './script.ts';
import type { Subscriber } from './subscriber.ts';
import { contextsPerUser, timing } from './world.ts';

// What a client asked for, as far as it knows. Who hears no answer sends the same again, until there is one.

type Options = {
  ask: Ask;
  subscriber: Subscriber;
  random: Random;
  canary: string;
  agents: string[];
  user: string;
  onSent: (task: string) => void;
};
type Known = { task: string; state: string; seq: number; isFollowed: boolean; answered: number };

const mostOpen = 14;
const ended = new Set(['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED']);

export const createRequests = ({ ask, subscriber, random, canary, agents, user, onSent }: Options) => {
  const known = new Map<string, Known>();
  let sending = 0;
  const pick = <T>(list: T[]): T | undefined => list[random.between(0, list.length - 1)];
  const openCount = (): number => [...known.values()].filter(({ state }) => !ended.has(state)).length + sending;

  const untilTold = async (once: () => ReturnType<Ask>): ReturnType<Ask> => {
    for (let tries = 0; tries < 40; tries += 1) {
      const told = await once();
      if (told && (!('code' in told) || told.code !== 'RATE_LIMITED')) return told;
      await sleep(random.between(50, 600));
    }
    return undefined;
  };

  const send = async (): Promise<void> => {
    if (openCount() >= mostOpen) return;
    sending += 1;
    const [task, message] = [random.chance(0.7) ? randomUUID() : undefined, randomUUID()];
    const { isSilent, ttlSeconds } = planOf(task ?? '00000000');
    const input = {
      messageId: message,
      agent: pick(agents),
      contextId: `${user}-${random.between(1, contextsPerUser)}`,
      text: `${canary} please`,
      ...(task && { taskId: task }),
      ...(task && isSilent && { timeoutSeconds: timing.silentSeconds }),
      ...(task && ttlSeconds && { ttlSeconds }),
    };
    const deed = { kind: 'send', message, ...(task && { task }) } as const;
    const once = () => ask(deed, documents.send, { input });
    const told = await untilTold(once);
    if (random.chance(0.1)) void once(); // out of nervousness
    sending -= 1;
    if (!told || 'code' in told) return;
    onSent(told.id);
    const entry = { task: told.id, state: told.state, seq: 0, isFollowed: false, answered: 0 };
    known.set(told.id, entry);
    void follow(entry);
  };

  const follow = async (entry: Known): Promise<void> => {
    if (entry.isFollowed) return;
    entry.isFollowed = true;
    const end = await subscriber.follow(entry.task, (event) => see(entry, event));
    entry.isFollowed = false;
    if (end === 'complete' && !ended.has(entry.state)) void follow(entry); // somebody started it over just then
  };

  const see = (entry: Known, { __typename, to, seq }: EventCopy): void => {
    entry.seq = seq;
    if (__typename !== 'StatusEvent') return;
    entry.state = String(to);
    if (entry.state === 'INPUT_REQUIRED' || entry.state === 'AUTH_REQUIRED') void answer(entry, seq);
  };

  /** At once or late; now and then the same words twice, or an end instead of an answer. */
  const answer = async (entry: Known, asked: number): Promise<void> => {
    if (entry.answered >= asked) return;
    entry.answered = asked;
    await sleep(random.chance(0.5) ? 0 : random.between(100, 2_000));
    if (random.chance(0.15)) return untilCanceled(entry.task);
    const message = randomUUID();
    const input = { taskId: entry.task, messageId: message, text: `${canary} answer` };
    const once = () => ask({ kind: 'followUp', task: entry.task, message }, documents.send, { input });
    if (random.chance(0.15)) void once();
    await untilTold(once);
  };

  const cancel = (task: string) => ask({ kind: 'cancel', task }, documents.cancel, { task, op: randomUUID() });
  const untilCanceled = async (task: string): Promise<void> => void (await untilTold(() => cancel(task)));

  const change = (): void => {
    const entry = pick([...known.values()].slice(-30));
    if (!entry) return;
    const { task, state } = entry;
    if (!ended.has(state) || random.chance(0.1)) {
      if (random.chance(0.5)) void cancel(task);
    } else if (state !== 'COMPLETED' || random.chance(0.2))
      void ask({ kind: 'retry', task }, documents.retry, { task }).then((told) => {
        if (told && 'code' in told) return;
        if (told && told.seq > entry.seq) entry.state = told.state;
        void follow(entry); // also when nobody knows
      });
  };

  return {
    send: () => void send(),
    change,
    read() {
      const task = pick([...known.keys()].slice(-30));
      if (task) void ask({ kind: 'read', task }, documents.read, { task });
    },
    following: () => [...known.values()].filter(({ isFollowed }) => isFollowed).length + sending,
  };
};
