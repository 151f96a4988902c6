// The life of a delivery: forward only, steps may be skipped. A lease is not a state.

export const deliveryStates = ['QUEUED', 'DELIVERED', 'ACKED', 'WORKING', 'ENDED'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export const deliveryOutcomes = [
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
  'EXPIRED',
  'INTERRUPTED',
  'REASSIGNED',
  'LOST',
] as const;

export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

export const deliveryTransitions: Record<DeliveryState, readonly DeliveryState[]> = {
  QUEUED: ['DELIVERED', 'ACKED', 'WORKING', 'ENDED'],
  DELIVERED: ['ACKED', 'WORKING', 'ENDED'],
  ACKED: ['WORKING', 'ENDED'],
  WORKING: ['ENDED'],
  ENDED: [],
};

export const mayAdvance = (from: DeliveryState, to: DeliveryState): boolean => deliveryTransitions[from].includes(to);
