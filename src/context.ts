import type { Actor } from './core/actor.ts';
import type { Agents } from './core/agent.ts';
import type { ApiKeys } from './core/api-key.ts';
import type { Networks } from './core/network.ts';
import type { Reads } from './core/reads.ts';
import type { Tasks } from './core/task.ts';
import type { Users } from './core/user.ts';
import type { Watchers } from './core/watch.ts';

/** What every resolver may use, whoever is asking. */
export type Services = {
  version: string;
  tasks: Tasks;
  agents: Agents;
  users: Users;
  apiKeys: ApiKeys;
  networks: Networks;
  watchers: Watchers;
  /** How long a blocking call waits at most. */
  waitSeconds: number;
};

/** What a resolver gets. */
export type Context = Services & {
  /** Who is asking; nobody: UNAUTHENTICATED. */
  who(): Actor;
  /** What the caller may read. */
  reads(): Reads;
  /** Says when the caller is gone. */
  gone: AbortSignal;
  /** Calls back when the caller's key no longer holds; returns how to stop watching. */
  onPassEnded(callback: () => void): () => void;
};
