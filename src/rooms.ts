import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthentication } from './auth/authentication.ts';
import { createJwtReader } from './auth/jwt.ts';
import { createOpenPasses } from './auth/open-passes.ts';
import { type Bus, openBus } from './bus/postgres.ts';
import type { Config } from './config.ts';
import type { Services } from './context.ts';
import { createAgents } from './core/agent.ts';
import { createApiKeys } from './core/api-key.ts';
import type { Clock } from './core/decide.ts';
import { createDispatcher } from './core/dispatcher.ts';
import type { Log } from './core/log.ts';
import { createNetworks } from './core/network.ts';
import type { Committed } from './core/ports.ts';
import { createTasks } from './core/task.ts';
import { createUsers } from './core/user.ts';
import { uuidv7 } from './core/uuid.ts';
import { createWatchers } from './core/watch.ts';
import { createWriter } from './core/writer.ts';
import { createGraphqlDoor } from './graphql/door.ts';
import { createPipeline } from './graphql/pipeline.ts';
import { createGraphqlSockets } from './graphql/socket.ts';
import { createHub } from './hub/hub.ts';
import { createAgentDoor } from './hub/socket.ts';
import { type Rounds, startRounds } from './rounds.ts';
import { schema } from './schema/index.ts';
import { createAuthenticationStore } from './store/authentication.ts';
import type { Database } from './store/database.ts';
import { createEventLog } from './store/event-log.ts';
import { openLogStore } from './store/log-store.ts';
import { createPresence } from './store/presence.ts';
import { createQueueStore } from './store/queue.ts';
import { createReads } from './store/reading/reads.ts';
import { createRegistry } from './store/registry.ts';
import { createTaskStore } from './store/task.ts';

// Puts the rooms together on a database that is ready. What each of them needs comes in here, and nowhere else.

export type Rooms = {
  graphql: RequestListener;
  upgrades: Record<string, (request: IncomingMessage, socket: Duplex, head: Buffer) => void>;
  /** Says good-bye to agents and live clients: they come back to another instance, or to this one's next start. */
  leave(): Promise<void>;
  /** Writes what was taken, and lets go of the database. */
  close(): Promise<void>;
};

type Options = { url: string; database: Database; config: Config; version: string; log: Log };

const times = { placeSeconds: 15, inputSeconds: 7 * 86_400, defaultTtlSeconds: 3_600 };

export const openRooms = async ({ url, database, config, version, log }: Options): Promise<Rooms> => {
  const { pool, prisma } = database;
  const instance = randomUUID();
  const now = (): number => Date.now();
  const newId = (): string => uuidv7(now());
  let rounds: Rounds | undefined;
  let bus: Bus | undefined;
  let isAlone = true;
  const wake = (): void => rounds?.wake();

  const onCommit = (committed: Committed[]): void => {
    watchers.publish(committed);
    // Where a delivery moved, a place may be free or taken. Chunks change nothing for the dispatcher.
    if (committed.some(({ events }) => events.length === 0 || events.some(({ kind }) => kind === 'DELIVERY'))) wake();
    if (!isAlone) bus?.ring();
  };
  const watchers = createWatchers(createEventLog(pool));
  const logStore = openLogStore({ url, log, defaultTtlSeconds: times.defaultTtlSeconds });
  const clock = (): Clock => ({
    nowMs: now(),
    newId,
    placeSeconds: times.placeSeconds,
    inputSeconds: times.inputSeconds,
  });
  const freshVersion = (): number => Math.floor(Math.random() * 2 ** 47);
  const writer = createWriter({ store: logStore, clock, freshVersion, onCommit });

  const authenticationStore = createAuthenticationStore(pool);
  const readJwt = config.jwt && createJwtReader(config.jwt);
  const authentication = createAuthentication({ store: authenticationStore, readJwt });
  const openPasses = createOpenPasses(authenticationStore.findEnded);

  const { heartbeatSeconds, leaseSeconds, waitSeconds } = config;
  const { authenticate } = authentication;
  const presence = createPresence(pool);
  const hub = createHub({
    authenticate,
    watchPass: openPasses.watch,
    writer,
    watchers,
    presence,
    instance,
    newId,
    now,
    log,
    heartbeatSeconds,
    onRoom: wake,
  });
  const agentDoor = createAgentDoor(hub);

  const queue = createQueueStore(pool);
  const dispatcher = createDispatcher({ writer, queue, agents: hub, instance, leaseSeconds, log });

  const store = createTaskStore(pool);
  const registry = createRegistry(prisma);
  const services: Services = {
    version,
    waitSeconds,
    watchers,
    tasks: createTasks({
      writer,
      watchers,
      store,
      agents: hub,
      now,
      newId,
      readStops: store.readStops,
      pause: (ms) => sleep(ms),
    }),
    agents: createAgents(registry.agents),
    users: createUsers(registry.users),
    apiKeys: createApiKeys(registry.apiKeys, now),
    networks: createNetworks(registry.networks),
  };
  const pipeline = createPipeline({
    schema,
    services,
    authentication,
    openPasses,
    createReads: (actor) => createReads(pool, actor),
    origins: config.origins,
    log,
  });
  const sockets = createGraphqlSockets({ pipeline, authentication, openPasses, heartbeatSeconds });

  const look = async (): Promise<void> => {
    isAlone = (await dispatcher.patrol()) === 0;
  };
  await look(); // the lease first: connections refer to it
  if (config.hasWakeUps)
    bus = openBus({
      url,
      log,
      onRing: () => {
        wake();
        void watchers
          .poll()
          .catch((error) => log.warn({ err: error }, 'Looking for news failed; it is tried again within a second'));
      },
    });
  rounds = startRounds({
    dispatch: dispatcher.dispatch,
    patrols: { deadlines: look, news: watchers.poll, agents: hub.patrol, passes: openPasses.patrol },
    log,
  });

  return {
    graphql: createGraphqlDoor(pipeline),
    upgrades: {
      '/graphql': sockets.upgrade,
      '/hub': (request, socket, head) => agentDoor.upgrade(request, socket, head),
      '/ws/agents': (request, socket, head) => agentDoor.upgrade(request, socket, head, tokenOf(request)),
    },
    async leave() {
      await rounds?.stop();
      await Promise.all([hub.drain(), sockets.stop()]);
      agentDoor.close();
    },
    async close() {
      await writer.stop();
      await Promise.all([logStore.close(), bus?.stop()]);
    },
  };
};

/** Browsers cannot set headers on a socket; there the token stands in the address, which is never logged. */
const tokenOf = ({ url = '' }: IncomingMessage): string | undefined =>
  new URLSearchParams(url.split('?')[1]).get('token') ?? undefined;
