import { createServer } from 'node:http';
import type { ExecutionArgs } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub, createYoga } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { createAgentHub } from './agent-hub.ts';
import { listen } from './listen.ts';
import { openMemoryLog, openPrismaLog, type PlainEvent, type PlainLog } from './plain-log.ts';
import { createPlainSchema } from './plain-schema.ts';
import type { OpenPeer, Peer } from './told.ts';

// The plain stack, as a competent engineer would first write it: Yoga, Pothos, Prisma's nested writes, Yoga's pubsub, and
// graphql-ws as Yoga's documentation sets it up. An event is published when it is written.

export const openPlain: OpenPeer = ({ database, ground }) => openServer(openPrismaLog(database, ground));

/** Without the database: what only delivering costs. */
export const openStock: OpenPeer = () => openServer(openMemoryLog());

type Report = { method: string; params: { task_id: string; artifact?: { parts: { text: string }[] } } };

const openServer = async (log: PlainLog): Promise<Peer> => {
  const pubSub = createPubSub<{ task: [id: string, event: PlainEvent] }>();
  const tasks = new Map<string, { seq: number; writing: Promise<void> }>();

  const hub = createAgentHub((frame) => {
    const { method, params } = JSON.parse(frame.toString()) as Report;
    const task = tasks.get(params.task_id);
    if (task) task.writing = task.writing.then(() => write(task, { method, params })); // a task's events keep their order
  });
  const write = async (task: { seq: number }, { method, params }: Report): Promise<void> => {
    const { task_id: id, artifact } = params;
    const seq = ++task.seq;
    if (method === 'task.artifact') {
      const [{ text } = { text: '' }] = artifact?.parts ?? [];
      await log.append(id, seq, text);
      pubSub.publish('task', id, { kind: 'ARTIFACT', seq, parts: [{ text }] });
    } else {
      await log.complete(id, seq);
      tasks.delete(id);
      pubSub.publish('task', id, { kind: 'STATUS', seq, to: 'COMPLETED' });
    }
  };

  const schema = createPlainSchema({
    async send({ agent, context }) {
      const { id, seq } = await log.create(context);
      tasks.set(id, { seq, writing: Promise.resolve() });
      hub.execute(agent, { id, context });
      return { id };
    },
    async *follow(task) {
      const live = pubSub.subscribe('task', task);
      const first = live.next(); // it listens from here on
      let last = 0;
      try {
        for (const event of await log.read(task)) {
          last = event.seq;
          yield event;
          if (isEnd(event)) return;
        }
        for (let got = await first; !got.done; got = await live.next()) {
          if (got.value.seq <= last) continue;
          last = got.value.seq;
          yield got.value;
          if (isEnd(got.value)) return;
        }
      } finally {
        void live.return();
      }
    },
  });

  const yoga = createYoga({ schema, logging: false });
  const server = createServer(yoga);
  const sockets = new WebSocketServer({ noServer: true });
  serveSubscriptions(yoga, sockets);
  server.on('upgrade', (request, socket, head) => {
    const to = request.url === '/hub' ? hub.server : sockets;
    to.handleUpgrade(request, socket, head, (client) => to.emit('connection', client, request));
  });
  return { url: await listen(server), stop: log.close };
};

const isEnd = (event: PlainEvent): boolean => event.kind === 'STATUS' && event.to === 'COMPLETED';

type Run = { execute(args: ExecutionArgs): never; subscribe(args: ExecutionArgs): never };

const serveSubscriptions = (yoga: ReturnType<typeof createYoga>, sockets: WebSocketServer): void => {
  useServer(
    {
      execute: (args: ExecutionArgs) => (args.rootValue as Run).execute(args),
      subscribe: (args: ExecutionArgs) => (args.rootValue as Run).subscribe(args),
      onSubscribe: async (context, _id, params) => {
        const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
          ...context,
          req: context.extra.request,
          socket: context.extra.socket,
          params,
        });
        const args = {
          schema,
          operationName: params.operationName,
          document: parse(params.query),
          variableValues: params.variables,
          contextValue: await contextFactory(),
          rootValue: { execute, subscribe },
        };
        const errors = validate(args.schema, args.document);
        return errors.length > 0 ? errors : args;
      },
    },
    sockets,
  );
};
