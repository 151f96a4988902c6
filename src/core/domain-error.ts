// A refusal: the caller asked for something that the rules do not allow. Everything else that is thrown is a bug.

const errorCodes = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'BAD_INPUT',
  'ILLEGAL_TRANSITION',
  'STALE_DELIVERY',
  'IDEMPOTENCY_CONFLICT',
  'USER_INACTIVE',
  'AGENT_NOT_FOUND',
  'AGENT_UNREACHABLE',
  'SKILL_NOT_FOUND',
  'QUEUE_FULL',
  'CONTEXT_BUSY',
  'INSUFFICIENT_FUNDS',
  'BUDGET_EXCEEDED',
  'SELF_DELEGATION',
  'DELEGATION_CYCLE',
  'DELEGATION_TOO_DEEP',
  'DELEGATION_TOO_WIDE',
  'CURSOR_BACKWARDS',
  'VERSION_CONFLICT',
  'DEPENDENCY_CYCLE',
  'CURSOR_EXPIRED',
  'CONFLICT',
  'TOO_LARGE',
  'RATE_LIMITED',
  'QUERY_TOO_COMPLEX',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export const isErrorCode = (code: unknown): code is ErrorCode => errorCodes.some((each) => each === code);

/** Facts that a program can act on, beside the message for people. */
export type ErrorFacts = { taskId?: string; state?: string; expected?: unknown; actual?: unknown };

export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.facts = facts;
  }
}
