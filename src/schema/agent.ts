import type { AgentView, SkillView } from '../core/reads.ts';
import {
  agentByName,
  agents,
  ownerOfAgent,
  registerAgent,
  skillsOfAgent,
  tasksOfAgent,
  transportOf,
} from '../resolvers/agent.ts';
import { builder } from './builder.ts';
import { Task, TaskConnection } from './task.ts';
import { User } from './user.ts';

const AgentMode = builder.enumType('AgentMode', {
  description: 'SYNC: one turn at a time, and an answer. ASYNC: the task stays in work across messages.',
  values: ['SYNC', 'ASYNC'] as const,
});
const WhenLost = builder.enumType('WhenLost', {
  description: 'What happens to acknowledged work of an agent that does not come back.',
  values: ['REQUEUE', 'FAIL'] as const,
});
const Transport = builder.enumType('Transport', { values: ['WEBSOCKET', 'HTTP', 'GRAPHQL'] as const });

export const Skill = builder.objectRef<SkillView>('Skill').implement({
  description: 'Something an agent can do.',
  fields: (t) => ({
    id: t.exposeID('id'),
    skillId: t.exposeString('skillId'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    tags: t.exposeStringList('tags'),
    examples: t.exposeStringList('examples'),
    price: t.expose('price', { type: 'Decimal' }),
  }),
});

export const Agent = builder.objectRef<AgentView>('Agent');
Agent.implement({
  description: 'Does work.',
  fields: (t) => ({
    id: t.exposeID('id'),
    owner: t.field({ type: User, description: 'Who registered it.', resolve: ownerOfAgent }),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    url: t.exposeString('url', { nullable: true }),
    transport: t.field({ type: Transport, description: 'How it is reached: its URL decides.', resolve: transportOf }),
    mode: t.expose('mode', { type: AgentMode }),
    connected: t.exposeBoolean('isConnected', { description: 'On whichever instance of the hub.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its last connection ended.',
    }),
    capacity: t.exposeInt('capacity', { nullable: true, description: 'How many tasks at once; null: any number.' }),
    whenLost: t.expose('whenLost', { type: WhenLost }),
    skills: t.field({ type: [Skill], resolve: skillsOfAgent }),
    card: t.field({ type: 'JSON', resolve: ({ card }) => card }),
    tasks: t.connection({ type: Task, description: 'Newest first.', resolve: tasksOfAgent }, TaskConnection),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    removedAt: t.expose('removedAt', { type: 'DateTime', nullable: true }),
  }),
});

const SkillInput = builder.inputType('SkillInput', {
  fields: (t) => ({
    id: t.string({ required: true }),
    name: t.string({ description: 'The id, if absent.' }),
    description: t.string(),
    tags: t.stringList(),
    examples: t.stringList(),
    price: t.field({ type: 'Decimal', description: 'Free, if absent.' }),
  }),
});

const RegisterAgentInput = builder.inputType('RegisterAgentInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    url: t.string({ description: '`ws-agent://<routing id>`: over the hub’s socket. Absent: by GraphQL.' }),
    description: t.string(),
    mode: t.field({ type: AgentMode, defaultValue: 'SYNC' }),
    skills: t.field({ type: [SkillInput] }),
    capacity: t.int({ description: 'How many tasks at once; absent: any number.' }),
    timeoutSeconds: t.int({ description: 'How long a turn may take; 1,800 if absent.' }),
    graceSeconds: t.int({ description: 'How long it may stay away after a lost connection; 30 if absent.' }),
    maxAttempts: t.int({ description: 'How often a task is handed over at most; 3 if absent.' }),
    whenLost: t.field({ type: WhenLost, defaultValue: 'FAIL' }),
    card: t.field({ type: 'JSON', description: 'Its A2A agent card.' }),
  }),
});

const RegisterAgentPayload = builder.objectRef<{ agent: AgentView; token: string }>('RegisterAgentPayload').implement({
  fields: (t) => ({
    agent: t.expose('agent', { type: Agent }),
    token: t.exposeString('token', { description: 'What the agent connects with. Shown once.' }),
  }),
});

const AgentFilter = builder.inputType('AgentFilter', {
  fields: (t) => ({ connected: t.boolean(), skill: t.string({ description: 'The id of a skill it has.' }) }),
});

builder.queryFields((t) => ({
  agent: t.field({
    type: Agent,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: agentByName,
  }),
  agents: t.connection(
    {
      type: Agent,
      description: 'The agents of your network, by name.',
      args: { filter: t.arg({ type: AgentFilter }) },
      resolve: agents,
    },
    { name: 'AgentConnection' },
    { name: 'AgentEdge' },
  ),
}));

builder.mutationFields((t) => ({
  registerAgent: t.field({
    type: RegisterAgentPayload,
    nullable: true,
    description: 'Makes an agent known. For admins.',
    args: { input: t.arg({ type: RegisterAgentInput, required: true }) },
    resolve: registerAgent,
  }),
}));
