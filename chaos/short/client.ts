import { setTimeout as sleep } from 'node:timers/promises';
import { openLines } from '../core/record.ts';
import { createRandom } from '../random.ts';
import { createAsk, documents } from './asking.ts';
import { createCanaryWatch, type Line } from './record.ts';
import { createRequests } from './requests.ts';
import { createSubscriber } from './subscriber.ts';
import type { ActorOrders, News, Order } from './world.ts';

// A person with a program: asks for work, follows it, answers questions, changes their mind. Everything at any server.

const orders = JSON.parse(process.argv[2] ?? '{}') as ActorOrders;
const { user, urls, canary, agents } = orders;
if (!user) throw new Error('A client without a key');
const random = createRandom(orders.seed);
const { write } = openLines<Line>(orders.file);
const shared = { urls, key: user.key, random, write, onText: createCanaryWatch(write) };
const ask = createAsk(shared);
const subscriber = createSubscriber(shared);
const tell = (news: News): void => void process.send?.(news);
const requests = createRequests({
  ask,
  subscriber,
  random,
  canary,
  agents,
  user: user.name,
  onSent: (sent) => tell({ sent }),
});

let isQuiet = false;
const every = async (fromMs: number, toMs: number, deed: () => void): Promise<void> => {
  while (!isQuiet) {
    await sleep(random.between(fromMs, toMs));
    if (!isQuiet) deed();
  }
};

const finish = async (): Promise<void> => {
  const untilMs = Date.now() + 25_000;
  while (requests.following() > 0 && Date.now() < untilMs) await sleep(100);
  subscriber.close();
  process.exit(0);
};

const lookAtForeign = (task: string): void => {
  const dice = random.next();
  const deed = { kind: 'foreign', task } as const;
  if (dice < 0.5) void subscriber.tryForeign(task);
  else if (dice < 0.7) void ask({ ...deed, what: 'read' }, documents.read, { task });
  else if (dice < 0.85) void ask({ ...deed, what: 'cancel' }, documents.cancel, { task, op: 'foreign' });
  else void ask({ ...deed, what: 'retry' }, documents.retry, { task });
};

process.on('disconnect', () => process.exit(1));
process.on('message', (order: Order) => {
  if (order === 'quiesce') isQuiet = true;
  else if (order === 'finish') void finish();
  else lookAtForeign(order.foreign);
});
void every(60, 350, requests.send);
void every(150, 700, requests.change);
void every(200, 900, requests.read);
tell('ready');
