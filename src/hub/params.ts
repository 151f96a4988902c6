import { DomainError } from '../core/domain-error.ts';
import { isRecord } from '../core/json.ts';
import type { Params } from './json-rpc.ts';

// Reads what an agent sent, field by field: missing or of another type is BAD_INPUT, and says which.

type Types = { string: string; number: number; boolean: boolean };

export const wrong = (name: string, wanted: string): DomainError =>
  new DomainError('BAD_INPUT', `${name} is not ${wanted}`);

/** Undefined: it is absent. What is null counts as absent. */
export const optional = <Type extends keyof Types>(
  params: Params,
  name: string,
  type: Type,
): Types[Type] | undefined => {
  const value = params[name];
  if (value == null) return undefined;
  if (typeof value !== type) throw wrong(name, `a ${type}`);
  return value as Types[Type];
};

export const required = <Type extends keyof Types>(params: Params, name: string, type: Type): Types[Type] => {
  const value = optional(params, name, type);
  if (value === undefined) throw new DomainError('BAD_INPUT', `${name} is missing`);
  return value;
};

export const requiredRecord = (params: Params, name: string): Params => {
  const value = params[name];
  if (!isRecord(value))
    throw value == null ? new DomainError('BAD_INPUT', `${name} is missing`) : wrong(name, 'an object');
  return value;
};

export const optionalList = (params: Params, name: string): unknown[] | undefined => {
  const value = params[name];
  if (value == null) return undefined;
  if (!Array.isArray(value)) throw wrong(name, 'a list');
  return value;
};

const most = 2 ** 31 - 1; // what a column takes

/** A whole number from `least` on. */
export const optionalCount = (params: Params, name: string, least = 1): number | undefined => {
  const value = optional(params, name, 'number');
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw wrong(name, `a whole number from ${least} on`);
  return value;
};

export const requiredTaskId = (params: Params): string => {
  const id = required(params, 'task_id', 'string').toLowerCase();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw wrong('task_id', 'a UUID');
  return id;
};
