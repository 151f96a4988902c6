import type { Counters, Report } from './checker.ts';
import type { History } from './history.ts';
import { timing } from './world.ts';

// One agent works on one task of a context at a time, and on the one that waits longest. Two commits that depend on each
// other have rising transaction numbers, because the second was decided on what the first had left; so order is exact.

type Stay = {
  task: string;
  number: number;
  rank: number;
  queued: number;
  taken: number;
  takenMs: number;
  ended: number;
  endedMs: number;
  keepsPlace: boolean;
};

/** `placeSeconds`: how long a place stays taken after others ended its delivery; 0: agents confirm, and it may be free at once. */
export const checkLanes = (history: History, report: Report, placeSeconds = timing.placeSeconds): Counters => {
  const lanes = readStays(history);
  let taken = 0;
  for (const [lane, stays] of lanes) {
    const took = stays.filter((stay) => stay.taken < never).sort((one, other) => one.taken - other.taken);
    taken += took.length;
    took.forEach((stay, index) => {
      const name = `${stay.task}:${stay.number}`;
      for (const other of took.slice(index + 1)) {
        if (other.taken >= stay.ended) break;
        report('lane', `${lane}: ${other.task}:${other.number} was taken while ${name} was at work`);
      }
      const next = took[index + 1];
      if (next && stay.keepsPlace && next.takenMs < stay.endedMs + placeSeconds * 1_000 - 1)
        report(
          'place',
          `${lane}: ${next.task}:${next.number} was taken (transaction ${next.taken}) ${next.takenMs - stay.endedMs} ms after ${name} ended (${stay.ended})`,
        );
      for (const other of stays)
        if (other.queued < stay.taken && Math.min(other.taken, other.ended) > stay.taken && other.rank < stay.rank)
          report('order', `${lane}: ${name} was taken before ${other.task}:${other.number}, which waited longer`);
    });
  }
  return { lanes: lanes.size, deliveriesTaken: taken };
};

const never = Number.POSITIVE_INFINITY;
const aheadOfAll = 1e13;

const readStays = (history: History): Map<string, Stay[]> => {
  const lanes = new Map<string, Stay[]>();
  for (const task of history.values()) {
    let stay: Stay | undefined;
    let wasLost = false;
    let wasAnswered = false;
    for (const { kind, to, from, actor, payload, xid, atMs } of task.events) {
      if (kind === 'STATUS') {
        wasAnswered = payload.reason === 'ANSWERED';
        wasLost &&= payload.reason !== 'RETRIED'; // it failed, and begins anew
      }
      if (kind !== 'DELIVERY') continue;
      if (from === null) {
        const lane = `${task.deliveries.get(payload.number ?? 0)?.agent}/${task.context}`;
        // Who lost its agent keeps its place in line, who was answered goes first; everybody else goes to the end.
        const rank: number = wasLost && stay ? stay.rank : wasAnswered ? atMs - aheadOfAll : atMs;
        const never_ = { taken: never, takenMs: never, ended: never, endedMs: never, keepsPlace: false };
        stay = { task: task.key, number: payload.number ?? 0, rank, queued: xid, ...never_ };
        lanes.set(lane, [...(lanes.get(lane) ?? []), stay]);
        wasLost = false;
      }
      if (!stay) continue;
      if (to === 'DELIVERED' && from === 'QUEUED') {
        stay.taken = xid;
        stay.takenMs = atMs;
      }
      if (to === 'ENDED') {
        stay.ended = xid;
        stay.endedMs = atMs;
        wasLost = payload.outcome === 'LOST';
        const isByAgent = actor === 'alpha' || actor === 'beta';
        stay.keepsPlace = !wasLost && payload.outcome !== 'INTERRUPTED' && !isByAgent && from !== 'QUEUED';
      }
    }
  }
  return lanes;
};
