import type { TaskView } from '../core/reads.ts';
import { taskStates } from '../core/task-state.ts';
import {
  agentOfTask,
  artifactsOfTask,
  cancelTask,
  chargeOfTask,
  childrenOfTask,
  contextOfTask,
  deliveriesOfTask,
  deliveryOfTask,
  eventsOfTask,
  expiresAt,
  messagesOfTask,
  metadataOfTask,
  parentOfTask,
  queuePosition,
  requesterOfTask,
  resultOfTask,
  retryTask,
  rootOfTask,
  sendMessage,
  skillOfTask,
  statusMessage,
  taskById,
  tasks,
  timeoutAt,
  usageOfTask,
  userOfTask,
} from '../resolvers/task.ts';
import { Agent, Skill } from './agent.ts';
import { Artifact } from './artifact.ts';
import { builder } from './builder.ts';
import { Charge } from './charge.ts';
import { Context } from './context.ts';
import { Delivery } from './delivery.ts';
import { TaskEvent, TaskEventConnection } from './event.ts';
import { Message, MessageConnection, MessageKind } from './message.ts';
import { PartInput } from './part.ts';
import { User } from './user.ts';

export const TaskState = builder.enumType('TaskState', {
  description: 'SUBMITTED, WORKING, INPUT_REQUIRED and AUTH_REQUIRED are open; the others are terminal.',
  values: taskStates,
});
const Priority = builder.enumType('Priority', { values: ['HIGH', 'NORMAL', 'LOW'] as const });

const Requester = builder.unionType('Requester', {
  description: 'Who asked for the task.',
  types: () => [User, Agent], // later: agents refer to tasks too
  resolveType: (requester) => ('role' in requester ? User : Agent),
});

export const Task = builder.objectRef<TaskView>('Task');
export const TaskConnection = builder.connectionObject({ type: Task, name: 'TaskConnection' }, { name: 'TaskEdge' });
Task.implement({
  description: 'One unit of work in a context, asked by a requester, done by one agent.',
  fields: (t) => ({
    id: t.exposeID('id'),
    context: t.field({ type: Context, resolve: contextOfTask }),
    state: t.expose('state', { type: TaskState }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it is in this state: a stable code.' }),
    result: t.string({ nullable: true, description: 'The final text.', resolve: resultOfTask }),
    statusMessage: t.field({
      type: Message,
      nullable: true,
      description: 'What was said with the last status.',
      resolve: statusMessage,
    }),
    statusAt: t.expose('statusAt', { type: 'DateTime' }),
    priority: t.expose('priority', { type: Priority }),
    agent: t.field({ type: Agent, description: 'Who does it.', resolve: agentOfTask }),
    skill: t.field({ type: Skill, nullable: true, resolve: skillOfTask }),
    requester: t.field({ type: Requester, resolve: requesterOfTask }),
    user: t.field({ type: User, nullable: true, description: 'Who pays in the end.', resolve: userOfTask }),
    parent: t.field({ type: Task, nullable: true, resolve: parentOfTask }),
    root: t.field({ type: Task, description: 'The top of its tree, as far up as you may see.', resolve: rootOfTask }),
    depth: t.exposeInt('depth', { description: 'How far below the root; the root is 0.' }),
    children: t.connection({ type: Task, resolve: childrenOfTask }, TaskConnection),
    delivery: t.field({
      type: Delivery,
      nullable: true,
      description: 'The latest hand-over.',
      resolve: deliveryOfTask,
    }),
    deliveries: t.field({
      type: [Delivery],
      args: { last: t.arg.int({ defaultValue: 20 }) },
      resolve: deliveriesOfTask,
    }),
    queuePosition: t.int({ nullable: true, description: '1 is next; null: it does not wait.', resolve: queuePosition }),
    seq: t.exposeInt('seq', { description: 'The number of its latest event.' }),
    generation: t.exposeInt('generation', { description: 'Counts changes of state and of artifacts.' }),
    messages: t.connection(
      { type: Message, description: 'The ledger, oldest first.', resolve: messagesOfTask },
      MessageConnection,
    ),
    artifacts: t.field({ type: [Artifact], resolve: artifactsOfTask }),
    events: t.connection(
      {
        type: TaskEvent,
        description: 'The log, oldest first.',
        args: { afterSeq: t.arg.int({ description: 'Only events with a higher number.' }) },
        resolve: eventsOfTask,
      },
      TaskEventConnection,
    ),
    charge: t.field({
      type: Charge,
      nullable: true,
      description: 'Null: it is free, or not yours to see.',
      resolve: chargeOfTask,
    }),
    usage: t.field({ type: 'JSON', nullable: true, resolve: usageOfTask }),
    metadata: t.field({ type: 'JSON', resolve: metadataOfTask }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it expires unless it is acknowledged.',
      resolve: expiresAt,
    }),
    timeoutAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its turn must have ended.',
      resolve: timeoutAt,
    }),
  }),
});

const TaskFilter = builder.inputType('TaskFilter', {
  fields: (t) => ({
    states: t.field({ type: [TaskState] }),
    contextId: t.id(),
    agent: t.string({ description: 'The name of the agent that does it.' }),
    skill: t.string(),
    userId: t.id({ description: 'Who pays.' }),
    parentId: t.id(),
    rootId: t.id(),
    priority: t.field({ type: Priority }),
    createdAfter: t.field({ type: 'DateTime' }),
    createdBefore: t.field({ type: 'DateTime' }),
  }),
});

builder.queryFields((t) => ({
  task: t.field({ type: Task, nullable: true, args: { id: t.arg.id({ required: true }) }, resolve: taskById }),
  tasks: t.connection(
    {
      type: Task,
      description: 'Newest first.',
      args: { filter: t.arg({ type: TaskFilter }) },
      resolve: tasks,
    },
    TaskConnection,
  ),
}));

const SendMessageInput = builder.inputType('SendMessageInput', {
  fields: (t) => ({
    agent: t.string({ description: 'Who is to do it; needed for a new task.' }),
    skill: t.string({ description: 'The agent’s only skill, if absent.' }),
    taskId: t.id({ description: 'An existing task’s, or a UUID of your choice for a new one.' }),
    contextId: t.id({ description: 'The conversation; a new one, if absent.' }),
    messageId: t.id({ description: 'A UUID of your choice: sending it again is answered with the same task.' }),
    inReplyTo: t.id({ description: 'The message that this one answers.' }),
    text: t.string({ description: 'Short form of parts.' }),
    parts: t.field({ type: [PartInput] }),
    kind: t.field({ type: MessageKind, defaultValue: 'TASK' }),
    priority: t.field({ type: Priority, defaultValue: 'NORMAL' }),
    ttlSeconds: t.int({ description: 'How long it may wait to be acknowledged, 1 to 86,400.' }),
    timeoutSeconds: t.int({ description: 'How long a turn may take.' }),
    wait: t.boolean({ defaultValue: false, description: 'Answer when the task is terminal or needs input.' }),
    waitSeconds: t.int({ description: 'Answer then at the latest; the task goes on.' }),
    metadata: t.field({ type: 'JSON' }),
  }),
});

const CancelTaskPayload = builder
  .objectRef<{ task: TaskView; canceled: TaskView[]; confirmed: string[]; outstanding: string[] }>('CancelTaskPayload')
  .implement({
    fields: (t) => ({
      task: t.expose('task', { type: Task }),
      canceled: t.expose('canceled', { type: [Task], description: 'The task itself and its open descendants.' }),
      confirmed: t.exposeIDList('confirmed', { description: 'Tasks whose agents said that they stopped.' }),
      outstanding: t.exposeIDList('outstanding', {
        description: 'Tasks whose agents were told, and have not answered yet.',
      }),
    }),
  });

builder.mutationFields((t) => ({
  sendMessage: t.field({
    type: Task,
    nullable: true,
    description: 'Asks for a new task, or says more to one that exists.',
    args: { input: t.arg({ type: SendMessageInput, required: true }) },
    resolve: sendMessage,
  }),
  cancelTask: t.field({
    type: CancelTaskPayload,
    nullable: true,
    description:
      'Ends a task that has not finished. Answers when the agents have confirmed, after 2 seconds at the latest.',
    args: {
      id: t.arg.id({ required: true }),
      reason: t.arg.string({ description: 'Free text; it stands in the log.' }),
    },
    resolve: cancelTask,
  }),
  retryTask: t.field({
    type: Task,
    nullable: true,
    description: 'Starts over what failed, expired, or was canceled or rejected. The log keeps what was.',
    args: { id: t.arg.id({ required: true }) },
    resolve: retryTask,
  }),
}));
