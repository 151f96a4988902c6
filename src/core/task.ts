import { type Actor, asAgent, asUser } from './actor.ts';
import type { Part } from './command.ts';
import { DomainError } from './domain-error.ts';
import type { TaskHead } from './head.ts';
import { type LoosePart, nothingToSay, readParts, sizeOf } from './part.ts';
import { artifactCommand, type LooseChunk, spokenBy, statusCommand } from './report.ts';
import { createSending, type Sending, type SendingOptions } from './sending.ts';
import type { TaskState } from './task-state.ts';
import { isUuid } from './uuid.ts';

// What people and agents do with tasks, over whichever door. Everything becomes a command to the writer.

export type Tasks = Sending & {
  cancel(actor: Actor, order: { id: string; reason?: string | null | undefined }): Promise<Canceled>;
  retry(actor: Actor, id: string): Promise<TaskHead>;
  acknowledge(actor: Actor, order: { id: string; delivery: number }): Promise<TaskHead>;
  reportStatus(actor: Actor, report: StatusReport): Promise<TaskHead>;
  appendArtifact(actor: Actor, report: ArtifactReport): Promise<TaskHead>;
  /** Returns the message's place in the ledger. */
  postMessage(actor: Actor, post: Post): Promise<{ task: string; seq: number }>;
};

type Content = { text?: string | null | undefined; parts?: readonly LoosePart[] | null | undefined };
type Report = { taskId: string; delivery: number; n?: number | null | undefined };
export type StatusReport = Report & Content & { state: TaskState; reason?: string | null | undefined; usage?: unknown };
export type ArtifactReport = Report & Content & Omit<LooseChunk, 'parts'>;
export type Post = Content & {
  taskId: string;
  kind?: 'TASK' | 'REPLY' | 'MESSAGE' | 'ACK' | 'BROADCAST' | null | undefined;
  inReplyTo?: string | null | undefined;
};

/** `confirmed`: the agent said that it stopped. `outstanding`: it was told, and has not answered yet. */
type Canceled = { task: TaskHead; confirmed: string[]; outstanding: string[] };

type Options = SendingOptions & {
  /** Which of these tasks are still being stopped, and which agents confirmed it. */
  readStops(tasks: string[]): Promise<{ task: string; isConfirmed: boolean }[]>;
  pause(ms: number): Promise<void>;
};

const confirmWithinMs = 2_000;
const lookEveryMs = 50;
const longestReason = 10_000;

export const createTasks = (options: Options): Tasks => {
  const { writer, store, newId, readStops, pause } = options;
  const submit = async (command: Parameters<typeof writer.submit>[0]): Promise<TaskHead> =>
    (await writer.submit(command)).task;

  const cancel: Tasks['cancel'] = async (actor, { id, reason }) => {
    if (actor.kind === 'user') asUser(actor, 'MEMBER');
    if (reason != null && reason.length > longestReason)
      throw new DomainError('TOO_LARGE', `reason has ${reason.length} characters; at most ${longestReason} are taken`);
    const { head, requester } = await visible(actor, id);
    if (actor.kind === 'agent' && requester !== actor.id)
      throw new DomainError(
        'FORBIDDEN',
        'An agent cancels only what it asked for; report CANCELED on your own delivery',
      );
    const text = reason == null ? {} : { text: reason };
    const task = await submit({ kind: 'cancel', task: head.key, actor: actor.name, reason: 'REQUESTED', ...text });
    for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
      const stops = await readStops([task.key]);
      const isOver = stops.every(({ isConfirmed }) => isConfirmed) || waitedMs >= confirmWithinMs;
      const idsOf = (confirmed: boolean) =>
        stops.flatMap(({ isConfirmed }) => (isConfirmed === confirmed ? [task.id] : []));
      if (isOver) return { task, confirmed: idsOf(true), outstanding: idsOf(false) };
      await pause(lookEveryMs);
    }
  };

  const retry: Tasks['retry'] = async (actor, id) => {
    const user = asUser(actor, 'MEMBER');
    const { head, user: payer, skill } = await visible(user, id);
    const agent = await store.findAgent(head.network, { id: head.executor.id });
    if (!agent)
      throw new DomainError('AGENT_NOT_FOUND', `${head.executor.name} was removed: reassign the task`, { taskId: id });
    const price = agent.skills.find(({ id: skillId }) => skillId === skill)?.micros ?? 0n;
    const hold = price > 0n ? { account: await store.findAccount(payer), micros: price } : null;
    return submit({ kind: 'retry', task: head.key, actor: user.name, hold });
  };

  /** An agent that works by GraphQL alone takes a waiting delivery by acknowledging it. */
  const acknowledge: Tasks['acknowledge'] = async (actor, { id, delivery }) => {
    const agent = asAgent(actor);
    const { head } = await executed(actor, id);
    if (head.deliveryState === 'QUEUED' && head.delivery === delivery) {
      const taken = await submit({ kind: 'take', task: head.key, agent: agent.id, taker: null });
      if (taken.deliveryState === 'QUEUED')
        throw new DomainError(
          'CONTEXT_BUSY',
          `Task ${id} waits: another task of its context, or of yours, comes first`,
          {
            taskId: id,
            state: taken.state,
          },
        );
    }
    return submit({ kind: 'acknowledge', task: head.key, fence: { agent: agent.id, delivery } });
  };

  const reported = async (actor: Actor, { taskId, delivery, n }: Report) => {
    const { head } = await executed(actor, taskId);
    return { task: head.key, fence: { agent: actor.id, delivery }, n: n ?? undefined };
  };

  const reportStatus: Tasks['reportStatus'] = async (actor, report) => {
    asAgent(actor);
    const parts = readParts(report);
    checkCode(report.reason);
    const status = { state: report.state, parts, reason: report.reason ?? undefined, usage: report.usage };
    return submit(statusCommand(await reported(actor, report), status, { name: actor.name, newId }));
  };

  const appendArtifact: Tasks['appendArtifact'] = async (actor, report) => {
    asAgent(actor);
    const parts = notEmpty(readParts(report));
    return submit(artifactCommand(await reported(actor, report), { ...report, parts }));
  };

  const postMessage: Tasks['postMessage'] = async (actor, { taskId, kind, inReplyTo, ...content }) => {
    asAgent(actor);
    if (kind === 'TASK' || kind === 'BROADCAST')
      throw new DomainError('BAD_INPUT', `A message of kind ${kind} starts work; an agent posts MESSAGE, REPLY or ACK`);
    if (inReplyTo != null && !isUuid(inReplyTo)) throw new DomainError('BAD_INPUT', 'inReplyTo must be a UUID');
    const { head } = await executed(actor, taskId);
    const parts = readParts(content);
    if (sizeOf(parts) === 0) throw nothingToSay();
    const message = spokenBy({ name: actor.name, newId }, parts, {
      kind: kind ?? 'MESSAGE',
      inReplyTo: inReplyTo?.toLowerCase() ?? null,
    });
    const fence = { agent: actor.id, delivery: head.delivery };
    const { key, seq } = await submit({ kind: 'say', task: head.key, fence, message });
    return { task: key, seq };
  };

  const visible = async (actor: Actor, id: string) => {
    const found = await store.findTask(actor, id);
    if (!found) throw notFound(id);
    return found;
  };

  const executed = async (actor: Actor, id: string) => {
    const agent = asAgent(actor);
    const found = await visible(agent, id);
    if (found.head.executor.id !== agent.id) throw notFound(id);
    return found;
  };

  return { ...createSending(options), cancel, retry, acknowledge, reportStatus, appendArtifact, postMessage };
};

const notFound = (id: string): DomainError => new DomainError('NOT_FOUND', `There is no task ${id}`);

const notEmpty = (parts: Part[]): Part[] => {
  if (parts.length === 0) throw nothingToSay();
  return parts;
};

const checkCode = (reason: string | null | undefined): void => {
  if (reason != null && !/^[A-Z][A-Z0-9_]{0,63}$/.test(reason))
    throw new DomainError(
      'BAD_INPUT',
      'reason is a code such as NO_INK, of at most 64 capital letters, digits and underscores; what people read is the text',
    );
};
