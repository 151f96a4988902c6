import { isDeepStrictEqual } from 'node:util';
import type { UserActor } from './actor.ts';
import type { Message, Part } from './command.ts';
import { DomainError } from './domain-error.ts';
import type { TaskHead } from './head.ts';
import { readParts } from './part.ts';
import type { FoundTask, SendingStore, SendMessage } from './sending.ts';

// Who heard no answer sends again. The second time is answered as the first, and writes nothing.

type Sent = { user: UserActor; input: SendMessage; existing: FoundTask | undefined };

/** With a message id it decides. Without, only the very message that created the task, while nothing else was said. */
export const findRepeat = async (
  store: SendingStore,
  { user, input, existing }: Sent,
): Promise<TaskHead | undefined> => {
  if (input.messageId) {
    const found = await store.findMessage(user.network, input.messageId);
    if (!found) return undefined;
    const task = await store.findTask(user, found.task);
    const isSameTask = !input.taskId || input.taskId.toLowerCase() === found.task;
    if (task && isSameTask && isMeant(task, input) && isEqual(found.message, user, input)) return task.head;
    throw new DomainError('IDEMPOTENCY_CONFLICT', `Another message has the id ${input.messageId}`);
  }
  if (!existing || existing.head.state === 'INPUT_REQUIRED' || existing.head.state === 'AUTH_REQUIRED')
    return undefined;
  const [first, other] = await store.readLedger(existing.head.key, 2);
  return first && !other && isMeant(existing, input) && isEqual(first, user, input) ? existing.head : undefined;
};

/** What the caller says of the task is true of it. */
const isMeant = ({ head, skill, contextId }: FoundTask, input: SendMessage): boolean =>
  (input.agent ?? head.executor.name) === head.executor.name &&
  (input.skill ?? skill) === skill &&
  (input.contextId ?? contextId) === contextId;

const isEqual = (message: Message, user: UserActor, input: SendMessage): boolean =>
  message.author === 'USER' &&
  message.authorName === user.name &&
  message.kind === (input.kind ?? 'TASK') &&
  message.inReplyTo === (input.inReplyTo?.toLowerCase() ?? null) &&
  isDeepStrictEqual(message.parts, partsOrNone(input));

/** What cannot be read is no repeat; the checks that follow say what is wrong with it. */
const partsOrNone = (input: SendMessage): Part[] | undefined => {
  try {
    return readParts(input);
  } catch {
    return undefined;
  }
};
