import { startStopwatch } from '../writer/stopwatch.ts';
import type { BareAgent } from './agent.ts';
import type { Crew } from './crew.ts';
import type { LatencyPlan, Telling, Written } from './told.ts';

type Life = { askedMs: number; sentMs: number[] };

let begun = 0;
const mostOpen = 256; // sockets of subscribers: a server that falls behind that far has no latency worth telling

/** Nobody waits for anybody: what is due is sent when it is due. */
export const runLatency = async (crew: Crew, plan: LatencyPlan, tell: Telling): Promise<Written> => {
  const { tasksPerSecond, chunksPerTask, chunkEveryMs, forMs } = plan;
  const written: Written = [];
  const [createMs, chunkMs]: [number[], number[]] = [[], []];
  const lives = new Map<string, Life>(); // by context: that is known before the task's id
  const free = await crew.subscribers(mostOpen);

  crew.onTask = (task, agent, context) => {
    const life = lives.get(context);
    if (!life) throw new Error(`${task} came in ${context}, where nobody asked`);
    createMs.push(performance.now() - life.askedMs);
    speak(task, agent, life);
  };
  const speak = (task: string, agent: BareAgent, life: Life): void => {
    const place = life.sentMs.length + 1;
    if (place > chunksPerTask) agent.complete(task);
    else {
      life.sentMs.push(performance.now());
      agent.stream(task, place, place);
      setTimeout(() => speak(task, agent, life), chunkEveryMs);
    }
  };

  const live = async (): Promise<void> => {
    const subscriber = free.pop();
    if (!subscriber) throw new Error('The server is too far behind');
    const order = crew.order(begun++);
    const life: Life = { askedMs: performance.now(), sentMs: [] };
    lives.set(order.context, life);
    const task = await crew.creator.create(order);
    const chunks = await subscriber.follow(task, (place) => {
      const sentMs = life.sentMs[place - 1];
      if (sentMs !== undefined) chunkMs.push(performance.now() - sentMs);
    });
    if (chunks !== chunksPerTask) throw new Error(`${task}: ${chunks} chunks came of ${chunksPerTask}`);
    written.push({ key: task, chunks });
    free.push(subscriber);
  };

  tell.ready();
  const watch = startStopwatch();
  const living: Promise<void>[] = [];
  for (let due = 0; due < forMs; due += 1_000 / tasksPerSecond) {
    const pauseMs = due - watch.elapsedMs();
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    living.push(live());
  }
  await Promise.all(living);
  tell.measured({ ...watch.read(), chunks: chunkMs.length, tasks: written.length, createMs, chunkMs });
  return written;
};
