import { decodeCursor, encodeCursor, type Page } from '../../core/page.ts';

// Lists of one task are read by seq.

const beyond = 2_147_483_647;

export const seqsOf = ({ after, before, limit, isBackward }: Page) => ({
  after: after === undefined ? 0 : seqOf(after),
  before: before === undefined ? beyond : seqOf(before),
  limit,
  isBackward,
});

export const seqCursor = ({ seq }: { seq: number }): string => encodeCursor(seq);

const seqOf = (cursor: string): number => Number(decodeCursor(cursor, ['seq'])[0]);
