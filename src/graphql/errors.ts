import { type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { DomainError, type ErrorCode, isErrorCode } from '../core/domain-error.ts';
import type { Log } from '../core/log.ts';

// How errors leave the house: refusals with their code, faults of the document as BAD_INPUT, everything else masked.

export type ToWire = (error: unknown) => GraphQLError;

export const createToWire =
  (log: Log): ToWire =>
  (error) => {
    const cause = causeOf(error);
    if (cause instanceof DomainError) return refusal(cause, error);
    if (cause instanceof GraphQLError) {
      if (isErrorCode(cause.extensions.code)) return cause; // it came by here before
      return fault(cause, error instanceof GraphQLError ? error : cause);
    }
    log.error({ err: cause }, 'Unexpected error');
    return withPlace(error, 'Something went wrong in the hub. It was logged; try again, or ask who runs the hub.', {
      code: 'INTERNAL',
      ...(!isOfField(error) && { http: { status: 500 } }),
    });
  };

/** Over a socket there are no statuses. */
export const withoutHttp = (error: GraphQLError): GraphQLFormattedError => {
  const { extensions = {}, ...formatted } = error.toJSON();
  const { http: _, ...facts } = extensions;
  return { ...formatted, extensions: facts };
};

type Result = { errors?: readonly GraphQLError[] | undefined; data?: Record<string, unknown> | null | undefined };

/** Undefined: it may leave as it is. */
export const toSocket = ({ errors, data }: Result): FormattedExecutionResult | undefined =>
  errors && { errors: errors.map(withoutHttp), ...(data !== undefined && { data }) };

const causeOf = (error: unknown): unknown => {
  if (!(error instanceof GraphQLError)) return error;
  return error.originalError ? causeOf(error.originalError) : error;
};

const isOfField = (error: unknown): boolean => error instanceof GraphQLError && error.path !== undefined;

type Http = { status?: number; spec?: boolean };

const statuses: Partial<Record<ErrorCode, Http>> = {
  UNAUTHENTICATED: { status: 401 },
  // Before anything ran: for those who asked for application/graphql-response+json, as GraphQL over HTTP wants it.
  BAD_INPUT: { status: 400, spec: true },
  QUERY_TOO_COMPLEX: { status: 400, spec: true },
};

const refusal = ({ code, message, facts }: DomainError, error: unknown): GraphQLError => {
  const http = code === 'UNAUTHENTICATED' || !isOfField(error) ? statuses[code] : undefined;
  return withPlace(error, message, { code, ...facts, ...(http && { http }) });
};

/** A document that cannot be parsed, does not fit the schema, or comes with variables that do not. */
const fault = (cause: GraphQLError, error: GraphQLError): GraphQLError => {
  if (cause.message === 'Validation aborted.') return refusal(tooManyComparisons(), error);
  const http = isOfField(error) ? undefined : { ...((cause.extensions.http ?? statuses.BAD_INPUT) as Http) };
  if (cause.extensions.code === 'BAD_REQUEST') delete http?.spec; // not even a document: whatever answer was asked for
  const code: ErrorCode = http?.status === 413 ? 'TOO_LARGE' : 'BAD_INPUT';
  return withPlace(error, error.message, { code, ...(http && { http }) });
};

/** graphql-js gives up where fields that may overlap would have to be compared too often. */
const tooManyComparisons = (): DomainError =>
  new DomainError('QUERY_TOO_COMPLEX', 'The document names the same fields too often. Ask for less at once');

const withPlace = (error: unknown, message: string, extensions: Record<string, unknown>): GraphQLError => {
  const { nodes, source, positions, path } = error instanceof GraphQLError ? error : new GraphQLError('');
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions,
  });
};
