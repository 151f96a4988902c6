import { startStopwatch } from '../writer/stopwatch.ts';
import type { BareAgent } from './agent.ts';
import type { Crew } from './crew.ts';
import type { FanoutPlan, Telling, Written } from './told.ts';

let begun = 0;

/** Chunk 1 tells that everybody listens; then the clock runs, and a task's next chunks go when its slowest subscriber has the last. */
export const runFanout = async (crew: Crew, plan: FanoutPlan, tell: Telling): Promise<Written> => {
  const { subscribers: count, tasks, forMs, window } = plan;
  const agents = new Map<string, BareAgent>();
  crew.onTask = (task, agent) => {
    agents.set(task, agent);
    agent.stream(task, 1, 1);
  };
  const subscribers = await crew.subscribers(count);
  const followed: string[] = [];
  for (let n = 0; n < tasks; n += 50) {
    const some = Array.from({ length: Math.min(50, tasks - n) }, () => crew.creator.create(crew.order(begun++)));
    followed.push(...(await Promise.all(some)));
  }

  const perTask = count / tasks;
  const behind = new Map<string, { place: number; missing: number; sent: number }>();
  let delivered = 0;
  let isOver = false;
  let listening = 0;
  let onListening: () => void = () => undefined;
  const allListen = new Promise<void>((resolve) => {
    onListening = resolve;
  });
  const onChunk = (task: string, place: number): void => {
    delivered += 1;
    if (place === 1) {
      listening += 1;
      if (listening === count) onListening();
      return;
    }
    const state = behind.get(task);
    if (!state || place !== state.place) return; // only the last chunk of a window is waited for
    state.missing -= 1;
    if (state.missing === 0 && !isOver) send(task);
  };
  const send = (task: string): void => {
    const sent = behind.get(task)?.sent ?? 1;
    agents.get(task)?.stream(task, sent + 1, sent + window);
    behind.set(task, { sent: sent + window, place: sent + window, missing: perTask });
  };

  const following = subscribers.map((each, index) => {
    const task = followed[index % tasks] ?? '';
    return each.follow(task, (place) => onChunk(task, place));
  });
  await Promise.race([allListen, Promise.all(following)]);
  delivered = 0;
  tell.ready();
  const watch = startStopwatch();
  for (const task of followed) send(task);
  await new Promise((resolve) => setTimeout(resolve, forMs));
  isOver = true;
  tell.measured({ ...watch.read(), chunks: delivered, tasks });
  for (const task of followed) agents.get(task)?.complete(task);
  const got = await Promise.all(following);
  got.forEach((chunks, index) => {
    const sent = behind.get(followed[index % tasks] ?? '')?.sent;
    if (chunks !== sent) throw new Error(`A subscriber got ${chunks} chunks of ${sent}`);
  });
  return followed.map((key) => ({ key, chunks: behind.get(key)?.sent ?? 0 }));
};
