import { DomainError } from './domain-error.ts';
import { isUuid } from './uuid.ts';

// Lists that grow are read in pages, from a cursor on, forwards or backwards: the cost of a page does not depend on where it is.

const most = 100;
const usual = 20;

export type PageArgs = {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
};

export type Page = { limit: number; isBackward: boolean; after: string | undefined; before: string | undefined };

export const readPage = ({ first, after, last, before }: PageArgs): Page => {
  if (first != null && last != null) throw new DomainError('BAD_INPUT', 'Give first or last, not both');
  const isBackward = last != null;
  const [name, limit] = isBackward ? ['last', last] : ['first', first ?? usual];
  if (limit < 0 || limit > most)
    throw new DomainError('BAD_INPUT', `${name} is ${limit}; it must be from 0 to ${most}`, {
      expected: most,
      actual: limit,
    });
  return { limit, isBackward, after: after ?? undefined, before: before ?? undefined };
};

export type Connection<Row> = {
  edges: { cursor: string; node: Row }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
};

/** `rows` in the order they were read, with one more than the page shows if there is more. */
export const connectionOf = <Row>(rows: Row[], page: Page, cursorOf: (row: Row) => string): Connection<Row> => {
  const shown = rows.slice(0, page.limit);
  const hasMore = rows.length > page.limit;
  const edges = (page.isBackward ? shown.reverse() : shown).map((node) => ({ cursor: cursorOf(node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: page.isBackward ? page.before !== undefined : hasMore,
      hasPreviousPage: page.isBackward ? hasMore : page.after !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
};

/** Cursors are opaque to clients: fields of the last row, readable only to us. */
export const encodeCursor = (...fields: (string | number)[]): string =>
  Buffer.from(JSON.stringify(fields)).toString('base64url');

const fieldKinds = {
  text: (field: unknown) => typeof field === 'string' && !field.includes('\0'),
  uuid: (field: unknown) => typeof field === 'string' && isUuid(field),
  /** Since 1970, in milliseconds; the last one of the year 9999. */
  time: (field: unknown) => Number.isInteger(field) && Number(field) >= 0 && Number(field) < 253_402_300_800_000,
  seq: (field: unknown) => Number.isInteger(field) && Number(field) >= 0 && Number(field) <= 2_147_483_647,
} as const;

export const decodeCursor = (cursor: string, kinds: (keyof typeof fieldKinds)[]): (string | number)[] => {
  try {
    const fields: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isOne = (each: unknown, n: number): boolean => kinds[n] !== undefined && fieldKinds[kinds[n]](each);
    if (Array.isArray(fields) && fields.length === kinds.length && fields.every(isOne)) return fields;
  } catch {}
  throw new DomainError('BAD_INPUT', 'This cursor is not one of this list');
};
