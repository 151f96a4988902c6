import { createHash, randomBytes } from 'node:crypto';

/** A fresh key: 256 random bits behind a mark that secret scanners can look for. */
export const createApiKey = (): string => `bk_${randomBytes(32).toString('base64url')}`;

/** What is stored of a key: the prefix finds the row, the hash proves the rest. */
export const fingerprint = (key: string): { prefix: string; hash: Uint8Array<ArrayBuffer> } => ({
  prefix: [...key].slice(0, 8).join(''),
  hash: new Uint8Array(createHash('sha256').update(key).digest()),
});
