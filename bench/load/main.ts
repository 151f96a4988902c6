import { openA2aLoad } from './a2a.ts';
import { openCrew } from './crew.ts';
import { runFanout } from './fanout.ts';
import { runLatency } from './latency.ts';
import { runLifecycle } from './lifecycle.ts';
import type { Heard, Load, Plan, Target, Telling, Told, Written } from './told.ts';

// The process that makes the load: opened once on a server, then told to run rounds. It ends when nobody talks to it any more.

const openHubLoad = async (target: Target): Promise<Load> => {
  const crew = await openCrew(target);
  const run = (plan: Plan, tell: Telling): Promise<Written> => {
    switch (plan.kind) {
      case 'lifecycle':
        return runLifecycle(crew, plan, tell);
      case 'fanout':
        return runFanout(crew, plan, tell);
      case 'latency':
        return runLatency(crew, plan, tell);
    }
  };
  return {
    round: async (plan, tell) => ({ written: await run(plan, tell), problems: crew.takeProblems() }),
    end: crew.end,
  };
};

let load: Load | undefined;
const say = (message: Heard) => void process.send?.(message);

const obey = async (told: Told): Promise<void> => {
  if (told.kind === 'open') {
    load = await (told.target.isA2a ? openA2aLoad : openHubLoad)(told.target);
    say({ kind: 'opened' });
  } else if (load) {
    const done = await load.round(told.plan, {
      ready: () => say({ kind: 'ready' }),
      measured: (measured) => say({ kind: 'measured', measured }),
    });
    say({ kind: 'done', ...done });
  }
};

process.on('message', (told: Told) => {
  obey(told).catch((error: Error) => say({ kind: 'failed', message: error.stack ?? error.message }));
});
process.on('disconnect', () => {
  load?.end();
  process.exit(0);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined); // whoever started us decides
