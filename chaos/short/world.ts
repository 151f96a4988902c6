/** A tenant of the run. Its canary is in all that its people and agents say. */
export type Network = {
  name: string;
  canary: string;
  users: { name: string; key: string }[];
  agents: AgentIdentity[];
};

export type AgentIdentity = { id: string; name: string; token: string; whenLost: 'REQUEUE' | 'FAIL' };

/** What the harness tells an actor. Everything random follows from the seed. */
export type ActorOrders = {
  /** Where its lines go. */
  file: string;
  seed: number;
  /** The servers, each behind its proxy. */
  urls: string[];
  canary: string;
  /** A client's. */
  user?: Network['users'][number];
  agents: string[];
  /** An agent's. */
  agent?: AgentIdentity;
};

/** From the harness. foreign: the id of a task of the other network, to look at. */
export type Order = 'quiesce' | 'finish' | { foreign: string };
/** To the harness: a task that exists. */
export type News = 'ready' | { sent: string };

export const timing = {
  leaseSeconds: 3,
  heartbeatSeconds: 5,
  graceSeconds: 2,
  maxAttempts: 3,
  /** Long enough that only an agent that falls silent, or a delivery that everybody forgot, gets there. */
  turnSeconds: 30,
  silentSeconds: 4,
};

export const contextsPerUser = 3;
