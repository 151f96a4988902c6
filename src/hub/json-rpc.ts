import { DomainError, type ErrorCode } from '../core/domain-error.ts';
import { isRecord } from '../core/json.ts';

// JSON-RPC 2.0: one object per frame.

export type RpcId = string | number;
export type RpcError = { code: number; message: string; data?: { code: ErrorCode } & Record<string, unknown> };
export type Params = Record<string, unknown>;

export type Frame =
  | { kind: 'request'; id: RpcId; method: string; params: unknown }
  | { kind: 'notification'; method: string; params: unknown }
  | { kind: 'response'; id: RpcId; error?: { message: string } }
  /** `id`: null when it could not be read. */
  | { kind: 'bad'; id: RpcId | null; error: RpcError };

export const rpcErrors = { parse: -32700, invalidRequest: -32600, methodNotFound: -32601 } as const;

/** A number for every code of the domain. Two have one of JSON-RPC's own. */
export const errorNumbers: Record<ErrorCode, number> = {
  BAD_INPUT: -32602,
  INTERNAL: -32603,
  UNAUTHENTICATED: -32001,
  FORBIDDEN: -32002,
  NOT_FOUND: -32003,
  ILLEGAL_TRANSITION: -32004,
  STALE_DELIVERY: -32005,
  IDEMPOTENCY_CONFLICT: -32006,
  USER_INACTIVE: -32007,
  AGENT_NOT_FOUND: -32008,
  AGENT_UNREACHABLE: -32009,
  SKILL_NOT_FOUND: -32010,
  QUEUE_FULL: -32011,
  CONTEXT_BUSY: -32012,
  INSUFFICIENT_FUNDS: -32013,
  BUDGET_EXCEEDED: -32014,
  SELF_DELEGATION: -32015,
  DELEGATION_CYCLE: -32016,
  DELEGATION_TOO_DEEP: -32017,
  DELEGATION_TOO_WIDE: -32018,
  CURSOR_BACKWARDS: -32019,
  VERSION_CONFLICT: -32020,
  DEPENDENCY_CYCLE: -32021,
  CURSOR_EXPIRED: -32022,
  CONFLICT: -32023,
  TOO_LARGE: -32024,
  RATE_LIMITED: -32025,
  QUERY_TOO_COMPLEX: -32026,
};

export const errorOf = ({ code, message, facts }: DomainError): RpcError => {
  const { taskId, ...more } = facts;
  return {
    code: errorNumbers[code],
    message,
    data: { code, ...(taskId !== undefined && { task_id: taskId }), ...more },
  };
};

export const parseFrame = (text: string): Frame => {
  const value = parse(text);
  if (value === undefined) return bad(null, rpcErrors.parse, 'The frame is not JSON');
  if (Array.isArray(value)) return bad(null, rpcErrors.invalidRequest, 'One JSON-RPC object per frame, not a batch');
  if (!isRecord(value)) return bad(null, rpcErrors.invalidRequest, 'The frame is not a JSON-RPC object');
  const { id, method, params } = value;
  const known = isId(id) ? id : null;
  if (value.jsonrpc !== '2.0') return bad(known, rpcErrors.invalidRequest, 'jsonrpc is not "2.0"');
  if (typeof method === 'string') {
    if (id === undefined) return { kind: 'notification', method, params };
    if (isId(id)) return { kind: 'request', id, method, params };
    return bad(null, rpcErrors.invalidRequest, 'The id is neither a string nor a number');
  }
  if (method !== undefined) return bad(known, rpcErrors.invalidRequest, 'The method is not a string');
  if (known === null) return bad(null, rpcErrors.invalidRequest, 'The frame has no method, and no id it answers');
  if (value.error != null) return { kind: 'response', id: known, error: { message: messageOf(value.error) } };
  if ('result' in value) return { kind: 'response', id: known };
  return bad(known, rpcErrors.invalidRequest, 'The frame has neither method nor result nor error');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isId = (id: unknown): id is RpcId => typeof id === 'string' || typeof id === 'number';

const bad = (id: RpcId | null, code: number, message: string): Frame => ({ kind: 'bad', id, error: { code, message } });

/** It is stored as the reason of a rejection: only what a database takes. */
const messageOf = (error: unknown): string => {
  const message = isRecord(error) && typeof error.message === 'string' ? error.message : '';
  return message.replaceAll('\0', '').slice(0, 10_000).toWellFormed() || 'The agent gave no reason';
};

export const isDomainError = (error: unknown): error is DomainError => error instanceof DomainError;
