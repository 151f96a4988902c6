import { DomainError } from './domain-error.ts';

// What PostgreSQL cannot store, or what breaks who walks through it, is refused at the edge.

const deepest = 64;

/** Throws for NUL, lone surrogates, numbers that are too large and values that are nested too deep. `where` names the value for people. */
export const checkJson = (value: unknown, where: string, depth = 0): void => {
  if (typeof value === 'string') checkText(value, where);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new DomainError('BAD_INPUT', `${where} contains a number that is too large`);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= deepest) throw new DomainError('BAD_INPUT', `${where} is nested deeper than ${deepest} levels`);
  for (const [name, each] of Object.entries(value)) {
    if (!Array.isArray(value)) checkText(name, where);
    checkJson(each, where, depth + 1);
  }
};

export const checkText = (text: string, where: string): void => {
  if (text.includes('\0')) throw new DomainError('BAD_INPUT', `${where} contains a NUL character`);
  if (!text.isWellFormed()) throw new DomainError('BAD_INPUT', `${where} contains half a surrogate pair`);
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
