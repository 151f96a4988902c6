import { textOf } from '../core/part.ts';
import type { MessageView } from '../core/reads.ts';
import { postMessage } from '../resolvers/message.ts';
import { builder } from './builder.ts';
import { Part, PartInput } from './part.ts';

const Author = builder.enumType('Author', { values: ['USER', 'AGENT', 'SYSTEM'] as const });
export const MessageKind = builder.enumType('MessageKind', {
  description: 'TASK and BROADCAST start work; REPLY, MESSAGE and ACK never do.',
  values: ['TASK', 'REPLY', 'MESSAGE', 'ACK', 'BROADCAST'] as const,
});

export const Message = builder.objectRef<MessageView>('Message').implement({
  description: 'An entry of a task’s ledger.',
  fields: (t) => ({
    id: t.exposeID('id'),
    seq: t.exposeInt('seq', { description: 'The number of its event.' }),
    author: t.expose('author', { type: Author }),
    authorName: t.exposeString('authorName', { nullable: true }),
    kind: t.expose('kind', { type: MessageKind }),
    parts: t.expose('parts', { type: [Part] }),
    text: t.string({ description: 'The text of all parts.', resolve: textOf }),
    inReplyTo: t.exposeID('inReplyTo', { nullable: true }),
    metadata: t.field({ type: 'JSON', resolve: ({ metadata }) => metadata }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

export const MessageConnection = builder.connectionObject(
  { type: Message, name: 'MessageConnection' },
  { name: 'MessageEdge' },
);

const PostMessageInput = builder.inputType('PostMessageInput', {
  fields: (t) => ({
    taskId: t.id({ required: true }),
    text: t.string(),
    parts: t.field({ type: [PartInput] }),
    kind: t.field({ type: MessageKind, defaultValue: 'MESSAGE' }),
    inReplyTo: t.id(),
  }),
});

builder.mutationFields((t) => ({
  postMessage: t.field({
    type: Message,
    nullable: true,
    description: 'An agent says something in the task it works on.',
    args: { input: t.arg({ type: PostMessageInput, required: true }) },
    resolve: postMessage,
  }),
}));
