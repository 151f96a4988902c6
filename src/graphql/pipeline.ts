import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Authentication } from '../auth/authentication.ts';
import type { OpenPasses } from '../auth/open-passes.ts';
import type { Context, Services } from '../context.ts';
import type { Actor, Pass } from '../core/actor.ts';
import { DomainError } from '../core/domain-error.ts';
import type { Log } from '../core/log.ts';
import type { Reads } from '../core/reads.ts';
import { createDocumentCache } from './document-cache.ts';
import { createToWire, type ToWire } from './errors.ts';
import { checkOperation, readDocument } from './limits.ts';

// One pipeline for HTTP, SSE and WebSocket: who is asking, what may be asked, how errors leave.

export type Pipeline = { yoga: YogaServerInstance<Given, Context>; toWire: ToWire };

/** What a door knows already: a socket has shown its pass when it was opened. */
export type Given = { pass?: Pass | undefined; gone?: AbortSignal };

type Options = {
  schema: GraphQLSchema;
  services: Services;
  authentication: Authentication;
  openPasses: OpenPasses;
  createReads: (actor: Actor) => Reads;
  origins: string[];
  log: Log;
};

const largestBody = 1_048_576;

export const createPipeline = (options: Options): Pipeline => {
  const { schema, authentication, origins, log } = options;
  const toWire = createToWire(log);
  const yoga = createYoga<Given, Context>({
    schema,
    context: async (initial) => {
      if ('pass' in initial) return contextFor(options, initial);
      const pass = await authentication
        .readAuthorization(initial.request.headers.get('authorization'))
        .catch((error) => {
          throw toWire(error);
        });
      return contextFor(options, { pass, gone: initial.request.signal });
    },
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: largestBody,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: createDocumentCache() },
    cors: (request) => {
      const origin = request.headers.get('origin');
      return origin !== null && origins.includes(origin) ? { origin, credentials: false } : false;
    },
    maskedErrors: { maskError: toWire },
    plugins: [useLimits(toWire)],
    logging: false,
  });
  return { yoga, toWire };
};

const contextFor = (options: Options, { pass, gone }: Given): Context => {
  let reads: Reads | undefined;
  const who = (): Actor => {
    if (!pass) throw new DomainError('UNAUTHENTICATED', 'Send your key: `Authorization: Bearer <key>`');
    return pass.actor;
  };
  return {
    ...options.services,
    who,
    reads: () => {
      reads ??= options.createReads(who());
      return reads;
    },
    gone: gone ?? new AbortController().signal,
    onPassEnded: (callback) => (pass ? options.openPasses.watch(pass, callback) : () => undefined),
  };
};

const useLimits = (toWire: ToWire): Plugin => ({
  onRequestParse: ({ request, requestParser, setRequestParser }) => {
    if (request.method === 'GET' && requestParser)
      setRequestParser(async (get) => {
        try {
          return await requestParser(get);
        } catch {
          throw new GraphQLError('The parameters variables and extensions must be JSON', {
            extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
          });
        }
      });
  },
  onResponse: ({ response }) => response.headers.append('vary', 'Origin'), // who may read it depends on who asks
  onParse: ({ setParseFn }) => {
    setParseFn((source, options) => readDocument(source, options));
  },
  onExecute: ({ args, setResultAndStopExecution }) => {
    const problem = problemOf(args, toWire);
    if (problem) setResultAndStopExecution(problem);
  },
  onSubscribe: ({ args, setResultAndStopExecution }) => {
    const problem = problemOf(args, toWire);
    if (problem) setResultAndStopExecution(problem);
  },
  onResultProcess: ({ result, setResult }) => {
    if (!('errors' in result) || !result.errors) return;
    setResult({ ...result, errors: result.errors.map(toWire) });
  },
});

type ExecutionArgs = {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: unknown;
  variableValues?: unknown;
};

const problemOf = (
  { schema, document, operationName, variableValues }: ExecutionArgs,
  toWire: ToWire,
): ExecutionResult | undefined => {
  try {
    checkOperation({
      schema,
      document,
      operationName: operationName as string | null | undefined,
      variables: variableValues as Record<string, unknown> | null | undefined,
    });
    return undefined;
  } catch (error) {
    return { errors: [toWire(error)] };
  }
};
