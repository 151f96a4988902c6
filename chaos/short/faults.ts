import { setTimeout as sleep } from 'node:timers/promises';
import type { Counters } from '../core/checker.ts';
import type { Reader } from '../patient-client.ts';
import type { ChaosDatabase } from '../postgres.ts';
import type { FaultProxy } from '../proxy.ts';
import type { Random } from '../random.ts';
import type { Actors } from './actors.ts';
import { breakLinks } from './network-faults.ts';
import { count, type Servers } from './servers.ts';
import { timing } from './world.ts';

type Options = {
  servers: Servers;
  actors: Actors;
  /** Between the servers and their database. */
  databaseProxy: FaultProxy;
  database: ChaosDatabase;
  client: Reader;
  random: Random;
};

/** The database crashes this long after the start, and then again and again. */
const crashMs = { first: 12_000, next: 30_000 };

/** Breaks things until the time is over, and leaves everything running. Counts what it really did. */
export const breakThings = async (untilMs: number, options: Options): Promise<Counters> => {
  const { servers, actors, databaseProxy, database, client, random } = options;
  const done = { kills: 0, restarts: 0, pauses: 0, crashes: 0, terminations: 0, databaseCuts: 0 };
  let crashesAt = Date.now() + Math.min(crashMs.first, (untilMs - Date.now()) * 0.35);
  const busy = new Set<number>();
  const under: Promise<void>[] = [];

  const using = (place: number, deed: () => Promise<void>): void => {
    busy.add(place);
    under.push(deed().finally(() => busy.delete(place)));
  };
  const kill = (place: number): void =>
    using(place, async () => {
      done.kills += 1;
      await servers.kill(place);
    });
  const restart = (place: number): void =>
    using(place, async () => {
      done.restarts += 1;
      await servers.restart(place);
    });
  /** Past the lease and the grace, so that others have its work when it comes back. */
  const pause = (place: number): void =>
    using(place, async () => {
      await servers.pause(place, (timing.leaseSeconds + timing.graceSeconds) * 1_000 + random.between(1_000, 2_500));
      done.pauses += 1;
    });

  const network = breakLinks(untilMs, { servers, random });
  while (Date.now() < untilMs) {
    await sleep(random.between(300, 1_000));
    if (Date.now() >= crashesAt) {
      if (!database.crash(random.chance(0.5) ? 'backend killed' : 'immediate shutdown')) continue;
      done.crashes += 1;
      crashesAt = Date.now() + crashMs.next;
      continue;
    }
    const free = Array.from({ length: count }, (_, place) => place).filter((place) => !busy.has(place));
    const place = free.length > 1 ? free[random.between(0, free.length - 1)] : undefined; // one always stands
    const dice = random.next();
    if (dice < 0.48 && place !== undefined) kill(place);
    else if (dice < 0.72 && place !== undefined) pause(place);
    else if (dice < 0.76 && place !== undefined) restart(place);
    else if (dice >= 0.76 && dice < 0.84) actors.killAgent();
    else if (dice < 0.76)
      continue; // all are busy
    else if (dice < 0.91) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'baton%'`,
      );
      if (rowCount) done.terminations += 1;
    } else if ((await databaseProxy.cut(random.between(5, 60))) > 0) done.databaseCuts += 1;
  }
  await Promise.all(under);
  return { ...done, ...(await network) };
};
