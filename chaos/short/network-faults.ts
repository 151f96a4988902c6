import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from '../link.ts';
import type { Random } from '../random.ts';
import type { Servers } from './servers.ts';

type Options = { servers: Servers; random: Random };

/** Breaks connections of agents and clients, about three a second. Counts what it did, by whose it was. */
export const breakLinks = async (untilMs: number, { servers, random }: Options) => {
  const done = { agentFaults: 0, clientFaults: 0, cuts: 0, halfOpens: 0, lates: 0, delays: 0, doubles: 0 };
  const breakOne = (link: Link): void => {
    const dice = random.next();
    if (dice < 0.3) {
      link.cut();
      done.cuts += 1;
    } else if (dice < 0.5) {
      link.halfOpen();
      done.halfOpens += 1;
    } else if (dice < 0.7) {
      link.late(random.between(50, 400), random.between(50, 2_500));
      done.lates += 1;
    } else if (dice < 0.85 || !link.isAgent()) {
      link.delay(random.between(20, 800));
      done.delays += 1;
    } else {
      link.double();
      done.doubles += 1;
    }
    done[link.isAgent() ? 'agentFaults' : 'clientFaults'] += 1;
  };

  while (Date.now() < untilMs) {
    await sleep(random.between(150, 550));
    const whole = servers.links().filter((link) => link.isWhole());
    const isAgents = random.chance(0.45);
    const wanted = whole.filter((link) => link.isAgent() === isAgents);
    const victim = wanted[random.between(0, wanted.length - 1)];
    if (victim) breakOne(victim);
  }
  return done;
};
