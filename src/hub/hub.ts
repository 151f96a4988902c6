import type { Pass } from '../core/actor.ts';
import type { AgentSide } from '../core/dispatcher.ts';
import type { Log } from '../core/log.ts';
import type { Presence } from '../core/presence.ts';
import type { Watchers } from '../core/watch.ts';
import type { Writer } from '../core/writer.ts';
import type { AgentSocket } from './agent-socket.ts';
import { type Connection, createConnection } from './connection.ts';

// The agents that are connected to this instance. Has no timer of its own: the server calls `patrol` every second.

export type HubOptions = {
  /** Undefined: the token opens nothing. */
  authenticate: (token: string) => Promise<Pass | undefined>;
  writer: Writer;
  watchers: Watchers;
  presence: Presence;
  instance: string;
  newId: () => string;
  now: () => number;
  log: Log;
  heartbeatSeconds: number;
  /** Calls back when the token no longer opens the door; returns how to stop watching. */
  watchPass: (pass: Pass, onEnded: () => void) => () => void;
  /** An agent may take more: time to dispatch. Comes often, and several at once. */
  onRoom: () => void;
};

export type Hub = AgentSide & {
  /** Returns what is to be called when the socket is closed. */
  opened(socket: AgentSocket, shown: { token?: string }): () => void;
  /** Pings, and closes what is silent or was replaced. */
  patrol(): Promise<void>;
  /** Sends everybody away and waits until what they held can be resumed elsewhere. */
  drain(reconnectAfterMs?: number): Promise<void>;
};

const comeBackMs = 1_000;

export const createHub = (options: HubOptions): Hub => {
  const { writer, presence, log } = options;
  const connections = new Map<string, Connection>();
  const byAgent = new Map<string, Set<Connection>>();
  const endings = new Set<Promise<void>>();
  let isDraining = false;
  let isLooking = false;

  const roomOf = (connection: Connection): number => {
    const desk = connection.desk();
    return desk?.isReady ? desk.capacity - loadOf(connection) : 0;
  };

  const remember = (connection: Connection, isTakeover: boolean): void => {
    const agent = connection.desk()?.agent.id ?? '';
    const others = byAgent.get(agent) ?? new Set();
    if (isTakeover) for (const other of others) void other.leave(4409, { reconnectAfterMs: comeBackMs });
    byAgent.set(agent, new Set(byAgent.get(agent)).add(connection));
  };

  const forget = (connection: Connection): void => {
    connections.delete(connection.id);
    const agent = connection.desk()?.agent.id ?? '';
    const others = byAgent.get(agent);
    others?.delete(connection);
    if (others?.size === 0) byAgent.delete(agent);
    const ending = connection.closed().finally(() => endings.delete(ending));
    endings.add(ending);
  };

  return {
    ready: () => [...byAgent].flatMap(([agent, all]) => ([...all].some((each) => roomOf(each) > 0) ? [agent] : [])),

    reserve(agent) {
      const able = [...(byAgent.get(agent) ?? [])].filter((each) => roomOf(each) > 0);
      const [first, ...rest] = able;
      if (!first || isDraining) return undefined;
      const idlest = rest.reduce((best, each) => (loadOf(each) < loadOf(best) ? each : best), first);
      const desk = idlest.desk();
      if (desk) desk.reserved += 1;
      return { holder: idlest.id, instance: options.instance };
    },

    giveBack({ holder }) {
      const desk = connections.get(holder)?.desk();
      if (desk) desk.reserved -= 1;
    },

    handOver({ holder }, assignment) {
      const desk = connections.get(holder)?.desk();
      if (desk) {
        desk.reserved -= 1;
        return desk.work.execute(assignment);
      }
      const { key: task, delivery, id } = assignment.task;
      writer
        .submit({ kind: 'lose', task, delivery, holder })
        .catch((error) => log.warn({ err: error, task: id }, 'A delivery without a connection waits for its deadline'));
    },

    opened(socket, { token }) {
      const connection = createConnection({
        ...options,
        socket,
        token,
        onRegistered: remember,
        onEnding: forget,
      });
      connections.set(connection.id, connection);
      if (isDraining) void connection.leave(1012, { reconnectAfterMs: comeBackMs });
      return () => void connection.closed();
    },

    async patrol() {
      for (const connection of connections.values()) connection.patrol();
      const registered = [...byAgent.values()].flatMap((all) => [...all].map(({ id }) => id));
      if (isLooking) return;
      isLooking = true;
      try {
        await presence.sweep(options.instance, [...connections.keys()]);
        for (const id of await presence.readReplaced(registered))
          void connections.get(id)?.leave(4409, { reconnectAfterMs: comeBackMs });
      } finally {
        isLooking = false;
      }
    },

    async drain(reconnectAfterMs = comeBackMs) {
      isDraining = true;
      const leaving = [...connections.values()].map((each) => each.leave(1012, { reconnectAfterMs, isLast: true }));
      await Promise.all([...leaving, ...endings]);
    },
  };
};

const loadOf = (connection: Connection): number => {
  const desk = connection.desk();
  return desk ? desk.reserved + desk.work.load() : 0;
};
