import { setTimeout as sleep } from 'node:timers/promises';
import { openLines } from '../core/record.ts';
import { createRandom } from '../random.ts';
import { type AgentSocket, connectAgent } from './agent-socket.ts';
import { createCanaryWatch, type Line } from './record.ts';
import { createWork, type Work } from './work.ts';
import type { ActorOrders, Order } from './world.ts';

// An agent: one connection at a time, to any of the servers; what it works on outlives the connection, until it crashes.

const orders = JSON.parse(process.argv[2] ?? '{}') as ActorOrders;
const { agent: self, canary, urls } = orders;
if (!self) throw new Error('An agent without an identity');
const random = createRandom(orders.seed);
const file = openLines<Line>(orders.file);
const watchCanaries = createCanaryWatch(file.write);
const works = new Map<string, Work>();
let socket: AgentSocket | undefined;
let lastConnection = 0;

const live = async (): Promise<void> => {
  for (;;) {
    lastConnection = Math.max(Date.now(), lastConnection + 1);
    const had = [...works.values()];
    socket = connectAgent({
      url: urls[random.between(0, urls.length - 1)] ?? '',
      agent: self,
      connection: lastConnection,
      isTakeover: random.chance(0.2),
      resume: had.map(({ task, delivery, lastSeq }) => ({
        task_id: task,
        delivery,
        last_seq: lastSeq(),
      })),
      write: file.write,
      onText: watchCanaries,
      onRegistered: (by, lastN) => {
        for (const work of had) {
          if (works.get(work.task) !== work) continue; // a new delivery has come since
          const stored = lastN[work.task];
          if (stored === undefined) forget(work);
          else work.goOnAt(by, random.chance(0.5) ? stored : 0); // or it repeats itself, and the hub sees to it
        }
      },
      onExecute: (by, { task, delivery, seq }) => {
        const known = works.get(task);
        if (known && known.delivery >= delivery) return;
        known?.stop();
        const work = createWork({ task, delivery, seq, canary, write: file.write, onOver: forget, onDrop: drop });
        works.set(task, work);
        work.goOnAt(by, 0);
        work.begin();
      },
      onCancel: ({ task, delivery }) => {
        const work = works.get(task);
        if (work && work.delivery <= delivery) forget(work);
        return !random.chance(0.02); // now and then it says nothing
      },
      pauseMs: () => (random.chance(0.4) ? random.between(0, 600) : 0),
    });
    await socket.over;
    for (const work of works.values()) work.waitForSocket();
    await sleep(random.between(10, 250));
  }
};

const forget = (work: Work): void => {
  work.stop();
  if (works.get(work.task) === work) works.delete(work.task);
};

/** The old connection may linger: it still speaks while the new one takes over its work. */
const drop = (lingers: boolean): void => {
  const old = socket;
  if (!old) return;
  if (!lingers) {
    old.end();
    return;
  }
  const talking = [...works.values()];
  old.leave();
  void (async () => {
    for (let count = 0; count < 10; count += 1) {
      // Not of those that wait for an answer: that would tell the hub that they go on without.
      for (const { task, delivery } of talking.filter((work) => work.isBusy()).slice(0, 4))
        old.talkLate({ task, delivery, canary });
      await sleep(random.between(30, 150));
    }
    old.end();
  })();
};

process.on('disconnect', () => process.exit(1));
process.on('message', (order: Order) => {
  if (order === 'finish') process.exit(0);
  if (typeof order === 'object') socket?.tryForeign(order.foreign);
});
process.send?.('ready');
void live();
