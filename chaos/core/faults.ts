import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../patient-client.ts';
import type { ChaosDatabase } from '../postgres.ts';
import type { FaultProxy } from '../proxy.ts';
import type { Random } from '../random.ts';
import type { Counters } from './checker.ts';
import type { Instances } from './instances.ts';

type Options = {
  instances: Instances;
  proxy: FaultProxy;
  database: ChaosDatabase;
  client: Reader;
  random: Random;
};

/** The database crashes this long after the start at the latest, and then again and again. */
const crashMs = { first: 8_000, next: 16_000 };

/** Breaks things until the time is over, and leaves everything running. Counts what it really did. */
export const breakThings = async (
  untilMs: number,
  { instances, proxy, database, client, random }: Options,
): Promise<Counters> => {
  const done = { kills: 0, pauses: 0, terminations: 0, cuts: 0, crashes: 0 };
  let crashesAt = Date.now() + Math.min(crashMs.first, (untilMs - Date.now()) * 0.4);
  const busy = new Set<number>();
  const under: Promise<void>[] = [];

  const using = (place: number, deed: () => Promise<void>): void => {
    busy.add(place);
    under.push(deed().finally(() => busy.delete(place)));
  };

  const kill = (place: number): void =>
    using(place, async () => {
      await instances.kill(place);
      done.kills += 1;
    });

  /** Past the lease and the grace, so that another has the work when it comes back; sometimes it dies just then. */
  const pause = (place: number): void =>
    using(place, async () => {
      await instances.pause(place, random.between(3_000, 4_500));
      done.pauses += 1;
      if (!random.chance(0.2)) return;
      await sleep(random.between(20, 150));
      await instances.kill(place);
      done.kills += 1;
    });

  while (Date.now() < untilMs) {
    await sleep(random.between(300, 900));
    if (Date.now() >= crashesAt) {
      if (!database.crash(random.chance(0.5) ? 'backend killed' : 'immediate shutdown')) continue;
      done.crashes += 1;
      crashesAt = Date.now() + crashMs.next;
      continue;
    }
    const free = [0, 1].filter((place) => !busy.has(place));
    const place = free[random.between(0, free.length - 1)];
    const dice = random.next();
    if (dice < 0.25 && place !== undefined) kill(place);
    else if (dice < 0.55 && place !== undefined && free.length === 2) pause(place);
    else if (dice < 0.7) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name in ('baton writer', 'baton')`,
      );
      if (rowCount) done.terminations += 1;
    } else if ((await proxy.cut(random.between(5, 60))) > 0) done.cuts += 1;
  }
  await Promise.all(under);
  return done;
};
