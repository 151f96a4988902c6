/** What the harness tells an instance. Everything random follows from the seed. */
export type InstanceOrders = {
  url: string;
  directory: string;
  boot: string;
  seed: number;
  bug: string | undefined;
  network: string;
  user: string;
  agents: { id: string; name: string }[];
  contexts: string[];
  reassigns: boolean;
};

export const timing = {
  leaseSeconds: 2,
  graceSeconds: 1,
  placeSeconds: 1,
  maxAttempts: 3,
  /** Long enough that only an agent that hangs, or a delivery that everybody forgot, gets there. */
  turnSeconds: 15,
  hangSeconds: 3,
};

export const bugs = ['no-fence', 'unordered-locks', 'flush-id-ignored', 'cached-refusal'] as const;
export type Bug = (typeof bugs)[number];
