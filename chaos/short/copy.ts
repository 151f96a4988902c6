import { createHash } from 'node:crypto';

// What a subscriber gets of a line of the log, in one canonical form, so that its copy can be compared by hash. The checker
// makes the same form from the tables.

export const eventFields = `__typename seq actor at detail
  ... on StatusEvent { from to reason text final said: message { id } }
  ... on MessageEvent { message { id author kind text } }
  ... on ArtifactEvent { artifactId append lastChunk parts { text } }
  ... on DeliveryEvent { was: from now: to number outcome }`;

export type EventCopy = { seq: number } & Record<string, unknown>;

export const hashOf = (event: EventCopy): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(event)))
    .digest('base64url')
    .slice(0, 16);

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(
    entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, each]) => [key, sorted(each)]),
  );
};
