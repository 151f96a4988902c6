import { createServer } from 'node:http';
import { A2A_PROTOCOL_VERSION, type AgentCard, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type TaskStore,
} from '@a2a-js/sdk/server';
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { chunkText } from '../load/chunk.ts';
import { listen } from './listen.ts';
import type { OpenPeer, Peer } from './told.ts';

// The server of @a2a-js/sdk, set up as its documentation says, with the store it ships for PostgreSQL (Kysely on a pool of pg)
// or its store in memory. The agent is inside: what it publishes crosses no socket, which is in its favour.

export const openA2aOnPostgres: OpenPeer = async ({ database }) => {
  const pool = new pg.Pool({ connectionString: database });
  pool.on('error', () => undefined); // the statement under way tells it
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  return openServer(new DatabaseTaskStore(db), () => db.destroy());
};

export const openA2aInMemory: OpenPeer = () => openServer(new InMemoryTaskStore(), async () => undefined);

const openServer = async (store: TaskStore, close: () => Promise<void>): Promise<Peer> => {
  const app = express();
  const requestHandler = new DefaultRequestHandler(card, store, executor);
  app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  return { url: await listen(createServer(app)), stop: close };
};

const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const ids = { taskId, contextId, metadata: undefined };
    const status = (state: TaskState) => ({ state, timestamp: new Date().toISOString(), message: undefined });
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_WORKING),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    const chunks = Number(userMessage.metadata?.chunks);
    for (let n = 1; n <= chunks; n++) {
      const content = { $case: 'text', value: chunkText(n) } as const;
      const parts = [{ content, metadata: undefined, filename: '', mediaType: 'text/plain' }];
      const artifact = { artifactId: 'a', name: '', description: '', parts, metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact, append: n > 1, lastChunk: n === chunks }));
    }
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(TaskState.TASK_STATE_COMPLETED) }));
  },
  cancelTask: async () => undefined,
};

const card: AgentCard = {
  name: 'Bench',
  description: 'Streams as many chunks as it is asked for.',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: A2A_PROTOCOL_VERSION },
  ],
  provider: { organization: 'Bench', url: 'https://example.com' },
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [],
  documentationUrl: '',
  signatures: [],
};
