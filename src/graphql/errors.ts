import { GraphQLError } from 'graphql';
import { DomainError } from '../core/domain-error.ts';
import type { Log } from '../core/log.ts';

// How errors leave the house: refusals with their code, faults of the document as BAD_INPUT, everything else masked.

export type ToWire = (error: unknown) => GraphQLError;

export const createToWire =
  (log: Log): ToWire =>
  (error) => {
    const cause = causeOf(error);
    if (cause instanceof DomainError) return refusal(cause, error);
    if (cause instanceof GraphQLError) return typeof cause.extensions.code === 'string' ? cause : fault(cause);
    log.error({ err: cause }, 'Unexpected error');
    return withPlace(error, 'Something went wrong in the hub. It was logged; try again, or ask who runs the hub.', {
      code: 'INTERNAL',
    });
  };

const causeOf = (error: unknown): unknown => {
  if (!(error instanceof GraphQLError)) return error;
  return error.originalError ? causeOf(error.originalError) : error;
};

const refusal = ({ code, message, facts }: DomainError, error: unknown): GraphQLError =>
  withPlace(error, message, { code, ...facts, ...(code === 'UNAUTHENTICATED' && { http: { status: 401 } }) });

/** A document that cannot be parsed, does not fit the schema, or comes with variables that do not. */
const fault = (error: GraphQLError): GraphQLError =>
  withPlace(error, error.message, { ...error.extensions, code: 'BAD_INPUT' });

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
