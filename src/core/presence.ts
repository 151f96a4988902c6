import type { TaskHead } from './head.ts';

// Which agents are connected, on whichever instance. A connection's row goes with its socket, with its instance, or when
// a newer connection takes over.

export type Presence = {
  connect(connection: { id: string; agent: string; instance: string; takesOver: boolean }): Promise<void>;
  disconnect(connection: { id: string; agent: string }): Promise<void>;
  /** Removes rows of this instance that no connection of it has: it was not there to do it when they ended. */
  sweep(instance: string, connections: string[]): Promise<void>;
  /** Those of these connections that have no row any more. */
  readReplaced(connections: string[]): Promise<string[]>;
  /** An agent's task as it stands now, by its public id, and whether the connection that holds it is alive. */
  findTask(agent: string, id: string): Promise<{ head: TaskHead; isHeldAlive: boolean } | undefined>;
  /** What an agent says of itself: description and skills, never prices. */
  introduce(agent: string, card: Record<string, unknown>): Promise<void>;
};
