import { followDelivery } from './check-chain.ts';
import type { Report } from './checker.ts';
import type { Event, Task } from './history.ts';
import { planOf } from './script.ts';

// Nothing of a delivery is stored after it was given to another, and none is forgotten.

export const checkDeliveries = (task: Task, report: Report): void => {
  const { key, events } = task;
  const { current, see } = followDelivery();
  let before: Event | undefined;
  for (const event of events) {
    const { seq, kind, to, payload } = event;
    const said = kind === 'ARTIFACT' ? payload.parts?.[0]?.text?.split(':') : undefined;
    const told = kind === 'STATUS' && payload.text ? ['', payload.text.slice(1).split(':')[0]] : undefined;
    const number = said?.[1] ?? told?.[1];
    if (number !== undefined) {
      const isForeign = Number(number) !== current.number || (said && said[0] !== key);
      const where = `${key}: seq ${seq} is of delivery ${number}; delivery ${current.number} is ${current.state}`;
      // The question that ends the delivery is told after its end.
      const isItsEnd = to === 'INPUT_REQUIRED' && before?.to === 'ENDED' && before.payload.outcome === 'INTERRUPTED';
      if (isForeign || current.isLost || (['QUEUED', 'ENDED'].includes(current.state) && !isItsEnd))
        report('fence', `${where}${current.isLost ? ', its holder lost' : ''}`);
    }
    const isForgotten = kind === 'STATUS' && payload.reason === 'TIMEOUT' && !current.isLost;
    if (isForgotten && !planOf(key).hangs)
      report(
        'orphan',
        `${key}: delivery ${current.number} timed out at seq ${seq}; nobody noticed that its holder died`,
      );
    see(event);
    before = event;
  }
};
