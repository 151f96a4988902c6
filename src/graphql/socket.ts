import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, type ServerOptions, type Context as SocketContext } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Authentication } from '../auth/authentication.ts';
import type { OpenPasses } from '../auth/open-passes.ts';
import type { Pass } from '../core/actor.ts';
import { DomainError } from '../core/domain-error.ts';
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

type Extra = { socket: WebSocket; request: IncomingMessage; pass?: Pass | undefined; gone?: AbortController };
type Enveloped = ReturnType<Pipeline['yoga']['getEnveloped']>;
type Run = Pick<Enveloped, 'execute' | 'subscribe'>;

const largestFrame = 1_048_576;
const mostUnsent = 32 * 1_048_576; // then a client that does not read costs too much
const mostOperations = 1_000; // under way at once on one socket

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
    try {
      const pass = await authentication.readAuthorization(authorizationIn(connectionParams));
      if (extra.socket.readyState !== extra.socket.OPEN) return false; // gone meanwhile: nobody would stop the watch
      extra.pass = pass;
      extra.gone = new AbortController();
      if (!pass) return true;
      const forget = openPasses.watch(pass, () => extra.socket.close(CloseCode.Forbidden, 'The key no longer holds'));
      extra.gone.signal.addEventListener('abort', forget);
    } catch (error) {
      if (toWire(error).extensions.code === 'INTERNAL') extra.socket.close(1013, 'Try again later'); // not the key's fault
      return false;
    }
    return true;
  };

  const onSubscribe: NonNullable<ServerOptions<Record<string, unknown>, Extra>['onSubscribe']> = async (
    { extra, subscriptions },
    _id,
    payload,
  ) => {
    const isTooMany = Object.keys(subscriptions).length > mostOperations;
    if (isTooMany)
      return [
        toWire(new DomainError('RATE_LIMITED', `More than ${mostOperations} operations are under way on this socket`)),
      ];
    const given: Given = { pass: extra.pass, ...(extra.gone && { gone: extra.gone.signal }) };
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
      onClose: ({ extra }) => extra.gone?.abort(),
    },
    server,
    heartbeatSeconds * 1_000, // a subscriber that stalls for a minute survives
  );

  return {
    upgrade: (request, socket, head) =>
      server.handleUpgrade(request, socket, head, (client) => {
        boundOutput(client);
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

/** What is no text cannot be a key, and is not taken for nobody's asking either. */
const authorizationIn = (params: Record<string, unknown> | undefined): string | undefined => {
  const given = params?.authorization ?? params?.Authorization;
  return given == null || typeof given === 'string' ? (given ?? undefined) : '?';
};

/** Subscriptions wait for each event to be read; answers do not, and somebody may ask for many and read none. */
const boundOutput = (client: WebSocket): void => {
  const send = client.send.bind(client);
  client.send = (data: string, ...[sent]: unknown[]): void => {
    const done = (): void => (typeof sent === 'function' ? sent() : undefined); // that it was closed is told on its own
    if (client.bufferedAmount > mostUnsent) client.terminate();
    if (client.readyState === client.OPEN) send(data, done);
    else done();
  };
};
