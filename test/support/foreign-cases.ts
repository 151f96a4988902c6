import type { Furnished } from './furnished-network.ts';

// What to ask each field of the schema for with another network's ids and names in hand.

export type ForeignCase = {
  variables: Record<string, unknown>;
  /** `nothing`: null, an empty page, or not found. `own`: it is answered, out of the caller's own network. */
  outcome: 'nothing' | 'own';
  /** Who has the right to ask; the others ask too, and must learn as little. */
  by: 'owner' | 'member' | 'agent';
};

type Networks = { theirs: Furnished; ours: Furnished };
type Making = (variables: Record<string, unknown>, by?: ForeignCase['by']) => ForeignCase;

const nothing: Making = (variables, by = 'owner') => ({ variables, outcome: 'nothing', by });
const own: Making = (variables, by = 'owner') => ({ variables, outcome: 'own', by });
const parts = [
  { text: 'x', filename: 'x', mediaType: 'x' },
  { url: 'https://x.example', metadata: {} },
  { raw: 'eHg=' },
];

export const foreignCases: Record<string, (networks: Networks) => ForeignCase[]> = {
  'Query.version': () => [own({})],
  'Query.viewer': () => [own({})],
  'Query.agent': ({ theirs }) => [nothing({ name: theirs.agent.name }), nothing({ name: theirs.agent.id })],
  'Query.agents': ({ theirs }) => [
    nothing({ filter: { skill: theirs.skill } }),
    own({ after: theirs.cursors.agents }),
    own({ before: theirs.cursors.agents }),
  ],
  'Query.context': ({ theirs, ours }) => [
    nothing({ id: theirs.contextId }),
    nothing({ id: theirs.contextId, user: theirs.user.id }),
    nothing({ id: ours.contextId, user: theirs.user.id }),
  ],
  'Query.contexts': ({ theirs }) => [
    nothing({ search: theirs.mark }),
    nothing({ search: theirs.contextId }),
    own({ after: theirs.cursors.contexts }),
    own({ before: theirs.cursors.contexts }),
  ],
  'Query.task': ({ theirs }) => Object.values(theirs.tasks).map((id) => nothing({ id })),
  'Query.tasks': ({ theirs }) => [
    nothing({ filter: { agent: theirs.agent.name } }),
    nothing({ filter: { contextId: theirs.contextId } }),
    nothing({ filter: { skill: theirs.skill } }),
    nothing({ filter: { userId: theirs.user.id } }),
    nothing({ filter: { parentId: theirs.tasks.working } }),
    nothing({ filter: { rootId: theirs.tasks.working } }),
    own({ after: theirs.cursors.tasks }),
    own({ before: theirs.cursors.tasks }),
  ],
  'Subscription.taskEvents': ({ theirs }) => Object.values(theirs.tasks).map((taskId) => nothing({ taskId })),
  'Mutation.ackTask': ({ theirs }) => [nothing({ id: theirs.tasks.waiting, delivery: 1 }, 'agent')],
  'Mutation.appendArtifact': ({ theirs }) =>
    [{ text: 'x' }, { parts }].map((content) => {
      const input = { artifactId: 'a', name: 'x', description: 'x', ...content };
      return nothing({ input: { taskId: theirs.tasks.working, delivery: 1, ...input } }, 'agent');
    }),
  'Mutation.reportStatus': ({ theirs }) =>
    [{ text: 'x' }, { parts }].map((content) => {
      const input = { state: 'FAILED', reason: 'X', ...content };
      return nothing({ input: { taskId: theirs.tasks.working, delivery: 1, ...input } }, 'agent');
    }),
  'Mutation.postMessage': ({ theirs, ours }) => [
    nothing({ input: { taskId: theirs.tasks.working, text: 'x' } }, 'agent'),
    nothing({ input: { taskId: theirs.tasks.working, parts, inReplyTo: theirs.messageId } }, 'agent'),
    own({ input: { taskId: ours.tasks.working, text: 'x', inReplyTo: theirs.messageId } }, 'agent'),
  ],
  'Mutation.cancelTask': ({ theirs }) => Object.values(theirs.tasks).map((id) => nothing({ id, reason: 'x' })),
  'Mutation.retryTask': ({ theirs }) => [nothing({ id: theirs.tasks.failed }), nothing({ id: theirs.tasks.done })],
  'Mutation.sendMessage': ({ theirs, ours }) => {
    const agent = ours.helper.name;
    return [
      nothing({ input: { agent: theirs.agent.name, text: 'x' } }, 'member'),
      nothing({ input: { agent: theirs.agent.name, skill: theirs.skill, parts } }, 'member'),
      nothing({ input: { agent: ours.agent.name, skill: theirs.skill, text: 'x' } }, 'member'),
      nothing({ input: { taskId: theirs.tasks.asking, kind: 'REPLY', text: 'x' } }, 'member'),
      nothing({ input: { taskId: theirs.tasks.asking, agent: theirs.agent.name, text: 'x' } }, 'member'),
      // Their ids are free here: whoever names them means something of the own network.
      own({ input: { agent, text: 'x', contextId: theirs.contextId, inReplyTo: theirs.messageId } }, 'member'),
      own({ input: { agent, text: 'x', messageId: theirs.messageId, taskId: theirs.tasks.waiting } }, 'member'),
    ];
  },
  'Mutation.registerAgent': ({ theirs }) => {
    const skill = { id: theirs.skill, name: 'x', description: 'x', tags: ['x'], examples: ['x'] };
    const url = `ws-agent://${theirs.helper.name}`;
    return [own({ input: { name: theirs.helper.name, url, description: 'x', skills: [skill] } })];
  },
  'Mutation.createUser': ({ theirs: { user } }) => [own({ input: { name: user.name, externalId: user.externalId } })],
  'Mutation.setUserStatus': ({ theirs }) => [nothing({ userId: theirs.user.id, status: 'BLOCKED' })],
  'Mutation.createApiKey': ({ theirs }) => [
    nothing({ input: { userId: theirs.user.id, name: 'x', scopes: ['read'] } }),
    own({ input: { name: theirs.user.name } }),
  ],
  'Mutation.revokeApiKey': ({ theirs }) => [nothing({ id: theirs.apiKey.id })],
  'Mutation.createNetwork': ({ theirs }) => [own({ name: theirs.network.name })],
};
