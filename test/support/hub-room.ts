import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Pass } from '../../src/core/actor.ts';
import type { Command } from '../../src/core/command.ts';
import { createDispatcher } from '../../src/core/dispatcher.ts';
import type { Log } from '../../src/core/log.ts';
import { createHub } from '../../src/hub/hub.ts';
import { createAgentDoor } from '../../src/hub/socket.ts';
import { createLog } from '../../src/log.ts';
import { createPresence } from '../../src/store/presence.ts';
import { createQueueStore } from '../../src/store/queue.ts';
import { type AgentClient, openSocket } from './agent-client.ts';
import type { TestDatabase } from './database.ts';
import { until } from './until.ts';
import { createWorld, message } from './world.ts';

export const agentToken = 'token-of-echo';
const userToken = 'token-of-ada';

/** A hub on a real server and database, as the server of the house builds it; only its clock is moved by hand. */
export const openHubRoom = async (database: TestDatabase) => {
  const world = await createWorld(database);
  const { agent, network, writer, watchers, pool } = world;
  const instance = randomUUID();
  const queue = createQueueStore(pool);
  const presence = createPresence(pool);
  const logged: string[] = [];
  const record = (fields: object, text: string) => logged.push(`${JSON.stringify(fields)} ${text}`);
  const log: Log = { debug: record, info: record, warn: record, error: record };
  let aheadMs = 0;

  const passes: Record<string, Pass> = {
    [agentToken]: {
      actor: { kind: 'agent', id: agent, name: 'echo', network, owner: randomUUID() },
      credential: { kind: 'agent', id: agent, hash: new Uint8Array() },
    },
    [userToken]: {
      actor: {
        kind: 'user',
        id: randomUUID(),
        name: 'ada',
        network,
        role: 'OWNER',
        status: 'ACTIVE',
        isReadOnly: false,
      },
      credential: { kind: 'key', id: randomUUID() },
    },
  };
  let dispatching: Promise<void> = Promise.resolve();
  const hub = createHub({
    watchPass: () => () => undefined,
    authenticate: async (token) => passes[token],
    writer,
    watchers,
    presence,
    instance,
    newId: randomUUID,
    now: () => Date.now() + aheadMs,
    log,
    heartbeatSeconds: 90,
    onRoom: () => void dispatch(),
  });
  const dispatcher = createDispatcher({
    writer,
    queue,
    agents: hub,
    instance,
    leaseSeconds: 3_600,
    log: createLog('silent'),
  });
  const dispatch = (): Promise<void> => {
    dispatching = dispatching.then(dispatcher.dispatch);
    return dispatching;
  };
  await dispatcher.patrol();

  let signs = 0;
  let pauses = 0;
  const door = createAgentDoor({
    opened: (socket, shown) => {
      const onSign = (listener: () => void) =>
        socket.onSign(() => {
          listener();
          signs += 1;
        });
      const pause = () => {
        pauses += 1;
        socket.pause();
      };
      return hub.opened({ ...socket, onSign, pause }, shown);
    },
  });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://hub');
    const token = pathname === '/ws/agents' ? searchParams.get('token') : null;
    door.upgrade(request, socket, head, token ?? undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** A registered connection. */
  const connect = async (params: object = {}, token = agentToken): Promise<AgentClient & { connection: string }> => {
    const client = await openSocket(`${url}/hub`, token);
    const { params: established } = await client.nextOf('connection.established');
    const { result, error } = await client.request('agent.register', { agent_name: 'echo', ...params });
    if (!result?.registered) throw new Error(`Not registered: ${JSON.stringify(result ?? error)}`);
    return { ...client, connection: established.connection_id as string };
  };

  /** A task that waits, in a context of its own unless one is named. */
  const submit = async (change: { context?: string; executor?: object } = {}): Promise<string> => {
    const create = world.create(change.context ?? (await world.newContext()));
    Object.assign(create.created, { executor: { ...create.created.executor, ...change.executor } });
    await writer.submit(create);
    return create.task;
  };

  /** A connection that was handed a task. */
  const working = async (params: object = {}, change: Parameters<typeof submit>[0] = {}) => {
    const client = await connect(params);
    const task = await submit(change);
    await dispatch();
    const { id } = await client.nextOf('task.execute');
    return { client, task, id };
  };

  return {
    ...world,
    instance,
    presence,
    hub,
    url,
    logged,
    /** How many pings and pongs the hub has heard. */
    signs: () => signs,
    /** How often it stopped reading a socket. */
    pauses: () => pauses,
    userToken,
    passes,
    connect,
    submit,
    working,
    dispatch,
    patrol: dispatcher.patrol,
    message,
    /** Time passes for the hub. */
    wait: (ms: number) => {
      aheadMs += ms;
    },
    act: (command: Command) => writer.submit(command),
    row: async (sql: string, values: unknown[] = []) => (await database.query(sql, values)).rows[0],
    /** Between tests: nobody is connected, nothing waits. */
    reset: async () => {
      await until(
        async () => (await database.query('select from connection')).rowCount === 0,
        'the last test’s agents',
      );
      await dispatching;
      await database.query('truncate task, lane, waiting, deadline, feed, skill cascade');
      logged.length = 0;
    },
    close: async () => {
      await hub.drain();
      door.close();
      await new Promise((resolve) => server.close(resolve));
      await dispatching;
      await world.close();
    },
  };
};

export type HubRoom = Awaited<ReturnType<typeof openHubRoom>>;
