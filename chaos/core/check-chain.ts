import type { Report } from './checker.ts';
import type { Event, Task } from './history.ts';

// Deliveries follow each other, and each goes forward only.

const advances: Record<string, string[]> = {
  QUEUED: ['DELIVERED', 'ACKED', 'WORKING', 'ENDED'],
  DELIVERED: ['ACKED', 'WORKING', 'ENDED'],
  ACKED: ['WORKING', 'ENDED'],
  WORKING: ['ENDED'],
  ENDED: [],
};

/** The delivery in force while a log is read from its beginning. */
export const followDelivery = () => {
  const current = { number: 0, state: 'ENDED', isLost: false };
  const see = ({ kind, to, payload }: Event): void => {
    if (kind !== 'DELIVERY') return;
    if (payload.number !== current.number) current.isLost = false;
    if (payload.detail === 'connection lost') current.isLost = true;
    if (payload.detail === 'resumed') current.isLost = false;
    current.number = payload.number ?? 0;
    current.state = to ?? '';
  };
  return { current, see };
};

export const checkChain = (task: Task, report: Report): void => {
  const { key, events, deliveries } = task;
  const { current, see } = followDelivery();
  const outcomes = new Map<number, string | undefined>();
  for (const event of events) {
    const { seq, kind, from, to, payload } = event;
    if (kind === 'DELIVERY') {
      const isNew = from === null;
      const isRight = isNew
        ? to === 'QUEUED' && payload.number === current.number + 1 && current.state === 'ENDED'
        : payload.number === current.number &&
          from === current.state &&
          (payload.detail !== undefined ? from === to : advances[from]?.includes(to ?? ''));
      if (!isRight)
        report(
          'delivery chain',
          `${key}: seq ${seq}, ${payload.number} ${from}→${to} after ${current.number} ${current.state}`,
        );
      if (to === 'ENDED') outcomes.set(payload.number ?? 0, payload.outcome);
    }
    see(event);
  }
  if (task.delivery !== current.number || task.deliveryState !== current.state)
    report('delivery chain', `${key}: the row says ${task.delivery} ${task.deliveryState}`);
  for (let number = 1; number <= current.number; number += 1) {
    const row = deliveries.get(number);
    const state = number === current.number ? current.state : 'ENDED';
    if (row?.state !== state || (row.outcome ?? undefined) !== outcomes.get(number))
      report('delivery chain', `${key}: delivery ${number} is ${row?.state} ${row?.outcome}, not ${state}`);
  }
};
