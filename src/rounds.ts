import type { Log } from './core/log.ts';

// What the hub does again and again: hand out work when something changed, and look after everything once a second.

export type Rounds = {
  /** Something changed: look now. */
  wake(): void;
  /** Waits for the round under way. */
  stop(): Promise<void>;
};

type Options = {
  /** Runs after a wake-up, and every second. */
  dispatch: () => Promise<void>;
  /** Each runs every second, by itself: one that fails or hangs holds up no other. */
  patrols: Record<string, () => Promise<void>>;
  log: Log;
};

const everyMs = 1_000;

export const startRounds = ({ dispatch, patrols, log }: Options): Rounds => {
  let isStopped = false;
  const underWay = new Map<string, Promise<void>>();
  let isAsked = false;

  const run = (name: string, round: () => Promise<void>): Promise<void> => {
    const running =
      underWay.get(name) ??
      round()
        .catch((error) => log.warn({ err: error, round: name }, 'A round failed; it is tried again within a second'))
        .finally(() => underWay.delete(name));
    underWay.set(name, running);
    return running;
  };

  const wake = (): void => {
    if (isStopped || isAsked) return;
    isAsked = true;
    // What comes while a round is under way may have been missed by it: there is another one behind it.
    void (underWay.get('dispatch') ?? Promise.resolve()).then(() => {
      isAsked = false;
      if (!isStopped) void run('dispatch', dispatch);
    });
  };

  const timer = setInterval(() => {
    wake();
    for (const [name, patrol] of Object.entries(patrols)) void run(name, patrol);
  }, everyMs);

  return {
    wake,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await Promise.all(underWay.values());
    },
  };
};
