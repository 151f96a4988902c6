import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, type ServerOptions, type Context as SocketContext } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Authentication } from '../auth/authentication.ts';
import type { OpenPasses } from '../auth/open-passes.ts';
import type { Pass } from '../core/actor.ts';
import { toSocket, withoutHttp } from './errors.ts';
import type { Given, Pipeline } from './pipeline.ts';

// graphql-ws over the same pipeline. A syntax error costs its own operation, never the socket.

export type GraphqlSockets = {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Tells every client to come back. */
  stop(): Promise<void>;
};

type Options = {
  pipeline: Pipeline;
  authentication: Authentication;
  openPasses: OpenPasses;
  heartbeatSeconds: number;
};

type Extra = { socket: WebSocket; request: IncomingMessage; pass?: Pass | undefined; forget?: () => void };
type Enveloped = ReturnType<Pipeline['yoga']['getEnveloped']>;
type Run = Pick<Enveloped, 'execute' | 'subscribe'>;

const largestFrame = 1_048_576;

export const createGraphqlSockets = ({
  pipeline,
  authentication,
  openPasses,
  heartbeatSeconds,
}: Options): GraphqlSockets => {
  const { yoga, toWire } = pipeline;
  const server = new WebSocketServer({ noServer: true, maxPayload: largestFrame, perMessageDeflate: false });

  const onConnect = async ({
    connectionParams,
    extra,
  }: SocketContext<Record<string, unknown>, Extra>): Promise<boolean> => {
    const authorization = connectionParams?.authorization ?? connectionParams?.Authorization;
    const pass = await authentication
      .readAuthorization(typeof authorization === 'string' ? authorization : undefined)
      .catch(() => null);
    if (pass === null) return false;
    extra.pass = pass;
    if (pass)
      extra.forget = openPasses.watch(pass, () => extra.socket.close(CloseCode.Forbidden, 'The key no longer holds'));
    return true;
  };

  const onSubscribe: NonNullable<ServerOptions<Record<string, unknown>, Extra>['onSubscribe']> = async (
    { extra },
    _id,
    payload,
  ) => {
    const given: Given = { pass: extra.pass };
    const { schema, parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({
      ...given,
      params: payload,
    });
    try {
      const document = parse(payload.query);
      const errors = validate(schema, document);
      if (errors.length > 0) return errors.map((error: GraphQLError) => toWire(error));
      return {
        schema,
        document,
        operationName: payload.operationName,
        variableValues: payload.variables,
        contextValue: await contextFactory(),
        rootValue: { execute, subscribe } satisfies Run,
      };
    } catch (error) {
      return [toWire(error)];
    }
  };

  const { dispose } = useServer<Record<string, unknown>, Extra>(
    {
      execute: (args: ExecutionArgs) => (args.rootValue as Run).execute(args),
      subscribe: (args: ExecutionArgs) => (args.rootValue as Run).subscribe(args),
      onConnect,
      onSubscribe,
      onNext: (_, __, ___, ____, result) => toSocket(result),
      onError: (_, __, ___, errors) => errors.map((error) => withoutHttp(toWire(error))),
      isProd: true, // else a fault of ours would be told to whoever caused it
      onDisconnect: ({ extra }) => extra.forget?.(),
      onClose: ({ extra }) => extra.forget?.(),
    },
    server,
    heartbeatSeconds * 1_000, // a subscriber that stalls for a minute survives
  );

  return {
    upgrade: (request, socket, head) =>
      server.handleUpgrade(request, socket, head, (client) => {
        server.emit('connection', client, request);
        // Frames that are too large or broken close the socket; graphql-ws would print each on the console.
        client.removeAllListeners('error').on('error', () => undefined);
      }),
    async stop() {
      for (const client of server.clients) client.close(1012, 'The hub is restarting');
      const impatience = setTimeout(() => {
        for (const client of server.clients) client.terminate();
      }, 1_000);
      await dispose();
      clearTimeout(impatience);
    },
  };
};
