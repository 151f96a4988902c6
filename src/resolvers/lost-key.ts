import { DomainError } from '../core/domain-error.ts';

/** For who was let in, waited, and would not be let in again: neither news nor an end may be told. */
export const lostKey = (): DomainError =>
  new DomainError('UNAUTHENTICATED', 'The key no longer holds: come back with another one');
