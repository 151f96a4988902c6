import { type Actor, asWriter, hasRole, inactive, type UserActor } from './actor.ts';
import type { Assignment } from './assignment.ts';
import type { Message, NewTask } from './command.ts';
import { checkContextId, contextKey } from './context.ts';
import type { AgentSide } from './dispatcher.ts';
import { DomainError } from './domain-error.ts';
import type { Executor, Priority, TaskHead } from './head.ts';
import { isRecord } from './json.ts';
import { type LoosePart, nothingToSay, readParts, sizeOf } from './part.ts';
import { findRepeat } from './repeat.ts';
import { isTerminal } from './task-state.ts';
import { isUuid } from './uuid.ts';
import type { Watchers } from './watch.ts';
import type { Writer } from './writer.ts';

// Asking for work: a new task, or a message to one that exists. Checks come in the order of the domain, and nothing is
// written when one of them refuses.

export type Sending = { send(actor: Actor, message: SendMessage, signal: AbortSignal): Promise<TaskHead> };

type Maybe<T> = T | null | undefined;
export type SendMessage = {
  agent?: Maybe<string>;
  skill?: Maybe<string>;
  taskId?: Maybe<string>;
  contextId?: Maybe<string>;
  messageId?: Maybe<string>;
  inReplyTo?: Maybe<string>;
  text?: Maybe<string>;
  parts?: Maybe<readonly LoosePart[]>;
  kind?: Maybe<Message['kind']>;
  priority?: Maybe<Priority>;
  ttlSeconds?: Maybe<number>;
  timeoutSeconds?: Maybe<number>;
  /** Answer when the task is terminal or needs input, or when `signal` says that it was long enough. */
  wait?: Maybe<boolean>;
  metadata?: unknown;
};

export type FoundTask = { head: TaskHead; contextId: string; user: string; requester: string; skill: string | null };
type FoundAgent = { executor: Executor; skills: { id: string; micros: bigint }[] };

export type SendingStore = {
  /** The task, if the actor may see it. */
  findTask(actor: Actor, id: string): Promise<FoundTask | undefined>;
  /** The message of that id in the network, and its task. */
  findMessage(network: string, id: string): Promise<{ message: Message; task: string } | undefined>;
  /** The beginning of a task's ledger. */
  readLedger(task: string, limit: number): Promise<Message[]>;
  findAgent(network: string, by: { name: string } | { id: string }): Promise<FoundAgent | undefined>;
  /** Of a user without an account, one that does not exist: it covers nothing. */
  findAccount(user: string): Promise<string>;
};

export type SendingOptions = {
  writer: Writer;
  watchers: Watchers;
  store: SendingStore;
  agents: AgentSide;
  now: () => number;
  newId: () => string;
};

const seconds = { ttlSeconds: 86_400, timeoutSeconds: 604_800 } as const;

export const createSending = ({ writer, watchers, store, agents, now, newId }: SendingOptions): Sending => {
  const send: Sending['send'] = async (actor, input, signal) => {
    const user = sender(actor);
    checkIds(input);
    const head = await sendOnce(user, input).catch((error) => {
      // Somebody used the id while we looked: then this may be a repeat.
      if (!(error instanceof DomainError) || error.code !== 'IDEMPOTENCY_CONFLICT') throw error;
      return repeated(user, input);
    });
    return input.wait ? waitFor(head, signal) : head;
  };

  const sendOnce = async (user: UserActor, input: SendMessage): Promise<TaskHead> => {
    const existing = input.taskId ? await store.findTask(user, input.taskId) : undefined;
    const repeat = await findRepeat(store, { user, input, existing });
    if (repeat) return repeat;
    if (user.status !== 'ACTIVE') throw inactive(user);
    return existing ? followUp(user, input, existing) : create(user, input);
  };

  const repeated = async (user: UserActor, input: SendMessage): Promise<TaskHead> => {
    const existing = input.taskId ? await store.findTask(user, input.taskId) : undefined;
    const repeat = await findRepeat(store, { user, input, existing });
    if (repeat) return repeat;
    // What stands in the way may not be the caller's to see: nothing is said of it.
    throw new DomainError('IDEMPOTENCY_CONFLICT', 'The task id or the message id is taken by another task');
  };

  const followUp = async (user: UserActor, input: SendMessage, existing: FoundTask): Promise<TaskHead> => {
    if (input.kind === 'BROADCAST') throw onlyBroadcast();
    if (input.contextId != null && input.contextId !== existing.contextId)
      throw new DomainError('BAD_INPUT', `Task ${existing.head.id} belongs to another context`, {
        taskId: existing.head.id,
      });
    const message = messageOf(user, input);
    return (await writer.submit({ kind: 'followUp', task: existing.head.key, actor: user.name, message })).task;
  };

  const create = async (user: UserActor, input: SendMessage): Promise<TaskHead> => {
    const { agent: name, kind } = input;
    if (kind === 'BROADCAST') throw onlyBroadcast();
    if (kind != null && kind !== 'TASK')
      throw input.taskId
        ? new DomainError('NOT_FOUND', `There is no task ${input.taskId}`)
        : new DomainError('BAD_INPUT', `A message of kind ${kind} goes to a task that exists: name it with taskId`);
    if (!name) throw new DomainError('BAD_INPUT', 'Name the agent that is to do the task');
    const agent = await store.findAgent(user.network, { name });
    if (!agent) throw new DomainError('AGENT_NOT_FOUND', `There is no agent ${name}`);
    const skill = chooseSkill(agent, name, input.skill ?? undefined);
    const message = messageOf(user, input);
    const key = newId();
    const contextId = input.contextId ?? newId();
    const created: NewTask = {
      key,
      id: input.taskId?.toLowerCase() ?? key,
      network: user.network,
      context: contextKey({ network: user.network, owner: user.id, id: contextId }),
      contextId,
      root: key,
      parent: null,
      depth: 0,
      user: user.id,
      requester: { id: user.id, isAgent: false, name: user.name },
      executor: agent.executor,
      skill: skill?.id ?? null,
      priority: input.priority ?? 'NORMAL',
      ttlSeconds: input.ttlSeconds ?? null,
      timeoutSeconds: input.timeoutSeconds ?? null,
      hold: skill && skill.micros > 0n ? { account: await store.findAccount(user.id), micros: skill.micros } : null,
      metadata: metadataOf(input),
    };
    return commit(created, message);
  };

  /** An agent that is connected here and has nothing else in that context gets the task in the commit that makes it. */
  const commit = async (created: NewTask, message: Message): Promise<TaskHead> => {
    const taker = agents.reserve(created.executor.id);
    try {
      const command = { kind: 'create', task: created.key, created, message } as const;
      const { task } = await writer.submit(taker ? { ...command, taker } : command);
      if (!taker) return task;
      if (task.holder === taker.holder) agents.handOver(taker, assignmentOf(task, created, message));
      else agents.giveBack(taker);
      return task;
    } catch (error) {
      if (taker) agents.giveBack(taker);
      throw error;
    }
  };

  const assignmentOf = (task: TaskHead, created: NewTask, message: Message): Assignment => ({
    task,
    contextId: created.contextId,
    message: { ...message, seq: 2, atMs: now() },
    history: [],
    skill: created.skill,
    requester: created.requester.name,
    user: created.user,
    deadlineMs: now() + (created.timeoutSeconds ?? created.executor.turnSeconds) * 1_000,
    metadata: created.metadata,
  });

  const messageOf = (user: UserActor, input: SendMessage): Message => {
    const parts = readParts(input);
    if (sizeOf(parts) === 0) throw nothingToSay();
    for (const [name, most] of Object.entries(seconds)) {
      const value = input[name as keyof typeof seconds];
      if (value != null && (value < 1 || value > most))
        throw new DomainError('BAD_INPUT', `${name} is ${value}; it must be from 1 to ${most}`, {
          expected: most,
          actual: value,
        });
    }
    return {
      id: input.messageId?.toLowerCase() ?? newId(),
      author: 'USER',
      authorName: user.name,
      kind: input.kind ?? 'TASK',
      parts,
      inReplyTo: input.inReplyTo?.toLowerCase() ?? null,
      metadata: {},
    };
  };

  const waitFor = async (head: TaskHead, signal: AbortSignal): Promise<TaskHead> => {
    if (isSettled(head.state)) return head;
    for await (const event of watchers.watch({ task: head.key, after: head.seq, signal }))
      if (event.kind === 'STATUS' && isSettled(event.to)) break;
    return head;
  };

  return { send };
};

const isSettled = (state: TaskHead['state']): boolean =>
  isTerminal(state) || state === 'INPUT_REQUIRED' || state === 'AUTH_REQUIRED';

const sender = (actor: Actor): UserActor => {
  if (actor.kind === 'agent') throw new DomainError('FORBIDDEN', 'An agent asks others for work by delegating');
  if (!hasRole(actor, 'MEMBER'))
    throw new DomainError('FORBIDDEN', `Sending needs the role MEMBER; ${actor.name} is ${actor.role}`);
  return asWriter(actor);
};

const checkIds = (input: SendMessage): void => {
  for (const name of ['taskId', 'messageId', 'inReplyTo'] as const)
    if (input[name] != null && !isUuid(input[name])) throw new DomainError('BAD_INPUT', `${name} must be a UUID`);
  if (input.contextId != null) checkContextId(input.contextId);
};

const onlyBroadcast = (): DomainError =>
  new DomainError('BAD_INPUT', 'A message of kind BROADCAST is sent by broadcast');

const metadataOf = ({ metadata }: SendMessage): Record<string, unknown> => {
  if (metadata == null) return {};
  if (!isRecord(metadata)) throw new DomainError('BAD_INPUT', 'metadata must be an object');
  return metadata;
};

const chooseSkill = ({ skills }: FoundAgent, agent: string, wanted: string | undefined) => {
  if (wanted !== undefined) {
    const skill = skills.find(({ id }) => id === wanted);
    if (!skill) throw new DomainError('SKILL_NOT_FOUND', `${agent} has no skill ${wanted}`);
    return skill;
  }
  if (skills.length <= 1) return skills[0];
  if (skills.some(({ micros }) => micros > 0n))
    throw new DomainError('BAD_INPUT', `${agent} has several skills, and not all are free: name the one you want`);
  return undefined;
};
