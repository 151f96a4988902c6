import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceOrders, Order, Passed } from './world.ts';

// The servers as processes. Only what was started here is ever killed, by its own handle.

type Standing = { child: ChildProcess; isPaused: boolean; isExpected: boolean };

export const createInstances = (orders: Omit<InstanceOrders, 'boot' | 'seed'>, nextSeed: () => number) => {
  const places: (Standing | undefined)[] = [];
  const crashes: string[] = [];

  const start = async (place: number): Promise<void> => {
    const told = JSON.stringify({ ...orders, boot: randomUUID(), seed: nextSeed() } satisfies InstanceOrders);
    const child = fork(new URL('instance.ts', import.meta.url), [told], { execArgv: ['--import=tsx'] });
    const standing: Standing = { child, isPaused: false, isExpected: false };
    places[place] = standing;
    child.on('message', (message: 'ready' | Passed) => {
      const other = places[1 - place]?.child;
      if (message !== 'ready' && other?.connected) other.send(message, () => undefined); // it may die just now
    });
    child.on('exit', (code, signal) => {
      if (!standing.isExpected) crashes.push(`instance ${place} ended by itself: ${signal ?? code}`);
    });
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
  };

  const end = async (standing: Standing | undefined, signal: NodeJS.Signals): Promise<void> => {
    if (!standing || standing.child.exitCode !== null || standing.child.signalCode !== null) return;
    standing.isExpected = true;
    const gone = once(standing.child, 'exit');
    standing.child.kill(signal);
    await gone;
  };
  const endAll = (): void => {
    for (const standing of places) standing?.child.kill('SIGKILL');
  };
  process.on('exit', endAll);

  return {
    crashes,
    start,
    isPaused: (place: number) => places[place]?.isPaused ?? false,
    async kill(place: number) {
      await end(places[place], 'SIGKILL');
      await start(place);
    },
    async pause(place: number, ms: number) {
      const standing = places[place];
      if (!standing) return;
      standing.isPaused = true;
      standing.child.kill('SIGSTOP');
      await sleep(ms);
      standing.child.kill('SIGCONT');
      standing.isPaused = false;
    },
    tell(order: Order) {
      for (const standing of places) if (standing?.child.connected) standing.child.send(order);
    },
    /** Asks them to end; who has not after a while is killed, and told of. */
    async stop(withinMs: number) {
      await Promise.all(
        places.map(async (standing, place) => {
          if (!standing || standing.child.exitCode !== null || standing.child.signalCode !== null) return;
          standing.isExpected = true;
          const gone = once(standing.child, 'exit');
          if (standing.child.connected) standing.child.send('stop');
          const isGone = await Promise.race([gone.then(() => true), sleep(withinMs, false, { ref: false })]);
          if (isGone) return;
          crashes.push(`instance ${place} did not stop within ${withinMs} ms`);
          await end(standing, 'SIGKILL');
        }),
      );
      process.off('exit', endAll);
    },
    endAll,
  };
};

export type Instances = ReturnType<typeof createInstances>;
