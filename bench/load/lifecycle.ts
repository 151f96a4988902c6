import { startStopwatch } from '../writer/stopwatch.ts';
import type { BareAgent } from './agent.ts';
import type { Crew } from './crew.ts';
import type { LifecyclePlan, Telling, Written } from './told.ts';

type Stream = { agent: BareAgent; sent: number; seen: number; isCompleted: boolean };

let begun = 0; // over all rounds, so that contexts take turns

export const runLifecycle = async (crew: Crew, plan: LifecyclePlan, tell: Telling): Promise<Written> => {
  const { chunksPerTask, inFlight, lastBeginMs, window, isCutShort } = plan;
  const streams = new Map<string, Stream>();
  const written: Written = [];
  let [created, chunks, completed] = [0, 0, 0];
  let isOver = false;

  const pump = (task: string, stream: Stream): void => {
    const upTo = isOver ? stream.sent : Math.min(chunksPerTask, stream.seen + window);
    if (upTo === chunksPerTask || upTo - stream.sent >= window / 2) {
      if (upTo > stream.sent) stream.agent.stream(task, stream.sent + 1, upTo);
      stream.sent = upTo;
    }
    if (stream.isCompleted || (stream.sent < chunksPerTask && !isOver)) return;
    stream.isCompleted = true;
    stream.agent.complete(task);
  };
  crew.onTask = (task, agent) => {
    const stream = { agent, sent: 0, seen: 0, isCompleted: false };
    streams.set(task, stream);
    pump(task, stream);
  };

  const subscribers = await crew.subscribers(inFlight);
  tell.ready();
  const watch = startStopwatch();
  const measure = (): void => {
    if (isOver) return;
    isOver = true;
    // Exact where all tasks are whole. One that was cut short had its create and no complete: a command is a command.
    const whole = isCutShort ? ((created + chunks + completed) * chunksPerTask) / (chunksPerTask + 2) : chunks;
    tell.measured({ ...watch.read(), chunks: whole, tasks: completed });
    for (const [task, stream] of streams) pump(task, stream);
  };
  const cut = isCutShort ? setTimeout(measure, lastBeginMs) : undefined;
  const work = async (slot: number): Promise<void> => {
    const subscriber = subscribers[slot];
    while (subscriber && !isOver && watch.elapsedMs() < lastBeginMs) {
      begun += 1;
      const task = await crew.creator.create(crew.order(begun));
      created += 1;
      const got = await subscriber.follow(task, (place) => {
        chunks += 1;
        const stream = streams.get(task);
        if (!stream) return;
        stream.seen = place;
        if (!stream.isCompleted) pump(task, stream);
      });
      const sent = streams.get(task)?.sent;
      if (got !== sent) throw new Error(`${task}: ${got} chunks came of ${sent}`);
      streams.delete(task);
      completed += 1;
      written.push({ key: task, chunks: got });
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, (_, slot) => work(slot)));
    measure();
  } finally {
    clearTimeout(cut);
  }
  return written;
};
