import type { Command, Fence, Message, Part } from './command.ts';
import { DomainError } from './domain-error.ts';
import { textOf } from './part.ts';
import type { TaskState } from './task-state.ts';

// What an agent reports, over whichever door, becomes one of the commands of working.

export type Reported = { task: string; fence: Fence; n?: number | undefined };

export type Status = {
  state: TaskState;
  /** Empty: it said nothing. */
  parts: Part[];
  reason?: string | undefined;
  usage?: unknown;
};

type Speaker = { name: string; newId: () => string };

export const statusCommand = (reported: Reported, { state, parts, reason, usage }: Status, by: Speaker): Command => {
  const report = reportOf(reported);
  const message = parts.length > 0 ? spokenBy(by, parts) : undefined;
  const said = message && { message };
  const used = usage != null && { usage };
  switch (state) {
    case 'WORKING':
      return { kind: 'progress', ...report, ...(message && { text: textOf(message) }) };
    case 'INPUT_REQUIRED':
    case 'AUTH_REQUIRED':
      return { kind: 'ask', ...report, state, ...said };
    case 'COMPLETED':
      return { kind: 'complete', ...report, ...said, ...used };
    case 'FAILED':
      return { kind: 'fail', ...report, reason: reason ?? 'AGENT_FAILED', ...said, ...used };
    case 'REJECTED':
      return { kind: 'reject', ...report, reason: reason ?? 'AGENT_REJECTED', ...said };
    case 'CANCELED':
      return { kind: 'stop', ...report, ...said };
    case 'SUBMITTED':
    case 'EXPIRED':
      throw new DomainError('BAD_INPUT', `An agent cannot report ${state}`);
  }
};

export type LooseChunk = {
  artifactId: string;
  name?: string | null | undefined;
  description?: string | null | undefined;
  parts: Part[];
  append?: boolean | null | undefined;
  lastChunk?: boolean | null | undefined;
};

export const artifactCommand = (reported: Reported, chunk: LooseChunk): Command => {
  const { artifactId, name, description, parts, append, lastChunk } = chunk;
  if (artifactId.length < 1 || artifactId.length > 128)
    throw new DomainError('BAD_INPUT', 'An artifact’s id has 1 to 128 characters');
  return {
    kind: 'artifact',
    ...reportOf(reported),
    chunk: {
      artifactId,
      ...(name != null && { name }),
      ...(description != null && { description }),
      parts,
      append: append ?? false,
      lastChunk: lastChunk ?? false,
    },
  };
};

const reportOf = ({ task, fence, n }: Reported) => {
  if (n !== undefined && (!Number.isSafeInteger(n) || n < 1))
    throw new DomainError('BAD_INPUT', `n counts a delivery’s reports from 1; it is ${n}`);
  return { task, fence, ...(n !== undefined && { n }) };
};

export const spokenBy = (
  { name, newId }: Speaker,
  parts: Part[],
  more: Partial<Pick<Message, 'kind' | 'inReplyTo'>> = {},
): Message => ({
  id: newId(),
  author: 'AGENT',
  authorName: name,
  kind: 'REPLY',
  parts,
  inReplyTo: null,
  metadata: {},
  ...more,
});
