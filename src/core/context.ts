import { createHash } from 'node:crypto';
import { DomainError } from './domain-error.ts';
import { formatUuid } from './uuid.ts';

/**
 * A context's key follows from whose it is and what it is called: who uses one for the first time need not look whether
 * it is there, and two who do it at once mean the same row.
 */
export const contextKey = ({ network, owner, id }: { network: string; owner: string; id: string }): string => {
  const bytes = createHash('sha256').update(`${network}/${owner}/${id}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6); // a UUID of version 8: made by a rule of our own
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(bytes);
};

export const checkContextId = (id: string): string => {
  if (!/^\P{C}{1,128}$/u.test(id))
    throw new DomainError('BAD_INPUT', 'A context’s id has 1 to 128 printable characters');
  return id;
};
