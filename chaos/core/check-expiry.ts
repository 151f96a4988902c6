import type { Counters, Report } from './checker.ts';
import type { Deed } from './deeds.ts';
import type { History } from './history.ts';
import { planOf } from './script.ts';

/** Only what nobody acknowledged expires, not before its time; and what was acknowledged is acknowledged. */
export const checkExpiry = (history: History, deeds: Deed[], report: Report): Counters => {
  const counters = { expired: 0, unreachable: 0 };
  const acked = new Set<string>();
  const expired = new Set<string>();
  for (const { key, events } of history.values()) {
    const { ttlSeconds } = planOf(key);
    let queuedMs = 0;
    let delivery = '';
    for (const { seq, kind, from, to, payload, atMs } of events) {
      if (kind === 'DELIVERY') {
        delivery = `${key}:${payload.number}`;
        if (to === 'QUEUED') queuedMs = atMs;
        if (to === 'ACKED' || to === 'WORKING') acked.add(delivery);
      }
      const isExpired = to === 'EXPIRED' || payload.reason === 'AGENT_UNREACHABLE';
      if (kind !== 'STATUS' || !isExpired) continue;
      expired.add(delivery);
      counters[to === 'EXPIRED' ? 'expired' : 'unreachable'] += 1;
      if (to === 'EXPIRED' && from !== 'SUBMITTED') report('expiry', `${key}: expired at seq ${seq} from ${from}`);
      if (ttlSeconds === null || atMs < queuedMs + ttlSeconds * 1_000 - 1)
        report('expiry', `${delivery} expired ${atMs - queuedMs} ms after it was queued; its TTL is ${ttlSeconds} s`);
    }
  }
  for (const delivery of expired) if (acked.has(delivery)) report('expiry', `${delivery} was acknowledged and expired`);
  for (const { kind, task, delivery, told } of deeds) {
    if (kind !== 'acknowledge' || told?.at !== 'ok') continue;
    if (!acked.has(`${task}:${delivery}`)) report('lost', `${task}:${delivery}: told that it was acknowledged`);
  }
  return counters;
};
