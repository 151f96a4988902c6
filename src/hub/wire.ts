import type { Assignment, LedgerMessage } from '../core/assignment.ts';
import type { Message, Part } from '../core/command.ts';
import { isRecord } from '../core/json.ts';
import { type LoosePart, readParts } from '../core/part.ts';
import { type TaskState, taskStates } from '../core/task-state.ts';
import type { Params } from './json-rpc.ts';
import { optional, wrong } from './params.ts';

// Between the words of the wire (snake_case, lower-case with hyphens) and those of the domain.

const wordOf = (word: string): string => word.toLowerCase().replaceAll('_', '-');

const states = new Map<string, TaskState>(taskStates.map((state) => [wordOf(state), state]));

export const stateOf = (word: string): TaskState => {
  const state = states.get(word);
  if (!state) throw wrong('status.state', `one of ${[...states.keys()].join(', ')}`);
  return state;
};

/** A message as agents write it: an object with parts, or a bare text. Absent: no parts. */
export const partsOfMessage = (message: unknown, name: string): Part[] => {
  if (message == null) return [];
  if (typeof message === 'string') return readParts({ text: message });
  if (!isRecord(message)) throw wrong(name, 'an object');
  return partsIn(message.parts, `${name}.parts`);
};

export const partsIn = (parts: unknown, name: string): Part[] => {
  if (parts == null) return [];
  if (!Array.isArray(parts)) throw wrong(name, 'a list');
  return readParts({ parts: parts.map((part, index) => partIn(part, `${name}[${index}]`)) });
};

/** `type` and `kind` are accepted and not needed. A file may be nested, as in A2A 0.3. */
const partIn = (part: unknown, name: string): LoosePart => {
  if (!isRecord(part)) throw wrong(name, 'an object');
  const file = isRecord(part.file) ? part.file : undefined;
  const given = file
    ? { url: file.uri, raw: file.bytes, filename: file.name, mediaType: file.mimeType, metadata: part.metadata }
    : part;
  const text = (field: string) => optional(given, field, 'string');
  return {
    text: text('text'),
    data: given.data,
    url: text('url'),
    raw: text('raw'),
    filename: text('filename'),
    mediaType: text('mediaType') ?? text('media_type'),
    metadata: given.metadata,
  };
};

const contents = ['text', 'data', 'url', 'raw'] as const;

const partOut = (part: Part): Params => ({ type: contents.find((content) => part[content] !== undefined), ...part });

/** Towards the agent that works, everybody else is the user. */
const roleOf = ({ author, authorName }: Message, executor: string): string =>
  author === 'AGENT' && authorName === executor ? 'agent' : 'user';

export const contentOut = (message: Message, executor: string): Params => ({
  message_id: message.id,
  role: roleOf(message, executor),
  parts: message.parts.map(partOut),
});

export const messageOut = (message: Message, executor: string, atMs: number): Params => ({
  ...contentOut(message, executor),
  author: message.authorName,
  kind: wordOf(message.kind),
  in_reply_to: message.inReplyTo,
  created_at: new Date(atMs).toISOString(),
});

export const executeOut = (assignment: Assignment): Params => {
  const { task, contextId, message, history, skill, requester, user, deadlineMs, metadata } = assignment;
  const { id, delivery, priority, executor } = task;
  return {
    id,
    task_id: id,
    delivery,
    seq: Math.max(task.seq, lastSeq(assignment)),
    context_id: contextId,
    message: contentOut(message, executor.name),
    history: history.map((each) => messageOut(each, executor.name, each.atMs)),
    ...(skill !== null && { skill_id: skill }),
    priority: wordOf(priority),
    deadline: new Date(deadlineMs).toISOString(),
    metadata: {
      chat_id: null,
      ...metadata,
      requester,
      executor: executor.name,
      user_id: user,
      skill_used: skill,
    },
  };
};

/** The ledger is read after the delivery was taken: it may be ahead. */
export const lastSeq = ({ message, history }: Assignment): number =>
  [message, ...history].reduce((last, { seq }: LedgerMessage) => Math.max(last, seq), 0);
