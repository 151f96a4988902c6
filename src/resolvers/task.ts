import type { Context } from '../context.ts';
import { DomainError } from '../core/domain-error.ts';
import { encodeCursor, type PageArgs, readPage } from '../core/page.ts';
import { textOf } from '../core/part.ts';
import type { TaskFilter, TaskView } from '../core/reads.ts';
import type { SendMessage } from '../core/sending.ts';
import { isTerminal } from '../core/task-state.ts';
import { lostKey } from './lost-key.ts';

type Maybe<T> = T | null | undefined;

export const taskById = (_: unknown, { id }: { id: string }, { reads }: Context) => reads().task(id);

export const tasks = (_: unknown, { filter, ...page }: PageArgs & { filter?: Maybe<TaskFilter> }, { reads }: Context) =>
  reads().tasks(page, filter ?? {});

type SendMessageArgs = { input: SendMessage & { waitSeconds?: Maybe<number> } };

export const sendMessage = async (_: unknown, { input }: SendMessageArgs, context: Context) => {
  const { who, gone, tasks } = context;
  const actor = who();
  const seconds = input.waitSeconds ?? context.waitSeconds;
  if (seconds < 0 || seconds > context.waitSeconds)
    throw new DomainError('BAD_INPUT', `waitSeconds is ${seconds}; it must be from 0 to ${context.waitSeconds}`);
  const { key } = await (input.wait ? sendAndWait(context, input, seconds) : tasks.send(actor, input, gone));
  return present(context, key);
};

const sendAndWait = async (context: Context, input: SendMessage, seconds: number) => {
  const lost = new AbortController();
  const enough = AbortSignal.any([context.gone, lost.signal, AbortSignal.timeout(seconds * 1_000)]);
  const forget = context.onPassEnded(() => lost.abort());
  const head = await context.tasks.send(context.who(), input, enough).finally(forget);
  if (lost.signal.aborted) throw lostKey();
  return head;
};

export const cancelTask = async (_: unknown, order: { id: string; reason?: Maybe<string> }, context: Context) => {
  const { task, confirmed, outstanding } = await context.tasks.cancel(context.who(), order);
  const canceled = await present(context, task.key);
  return { task: canceled, canceled: [canceled], confirmed, outstanding };
};

export const retryTask = async (_: unknown, { id }: { id: string }, context: Context) => {
  const { key } = await context.tasks.retry(context.who(), id);
  return present(context, key);
};

/** The task as it is now. */
export const present = async ({ reads }: Context, key: string): Promise<TaskView> => {
  const task = await reads().taskByKey(key);
  if (!task) throw new DomainError('NOT_FOUND', 'The task is gone');
  return task;
};

export const contextOfTask = async ({ contextKey }: TaskView, _: unknown, { reads }: Context) =>
  needed(await reads().context(contextKey), 'context');

export const agentOfTask = async ({ agentId }: TaskView, _: unknown, { reads }: Context) =>
  needed(await reads().agent(agentId), 'agent');

export const skillOfTask = async ({ agentId, skillId }: TaskView, _: unknown, { reads }: Context) =>
  skillId === null ? null : (await reads().skills(agentId)).find((skill) => skill.skillId === skillId);

export const requesterOfTask = async ({ requesterId, requesterIsAgent }: TaskView, _: unknown, { reads }: Context) =>
  needed(await (requesterIsAgent ? reads().agent(requesterId) : reads().user(requesterId)), 'requester');

export const userOfTask = ({ userId }: TaskView, _: unknown, { reads }: Context) => reads().user(userId);

export const parentOfTask = ({ parentKey }: TaskView, _: unknown, { reads }: Context) =>
  parentKey === null ? null : reads().taskByKey(parentKey);

/** An agent deep in a tree may not see the top of it: then what it may see. */
export const rootOfTask = async (task: TaskView, _: unknown, context: Context): Promise<TaskView> => {
  if (task.rootKey === task.key) return task;
  return (await context.reads().taskByKey(task.rootKey)) ?? (await parentOfTask(task, _, context)) ?? task;
};

export const childrenOfTask = ({ key }: TaskView, page: PageArgs, { reads }: Context) =>
  reads().tasks(page, {}, { parent: key });

export const deliveriesOfTask = ({ key }: TaskView, { last }: { last?: Maybe<number> }, { reads }: Context) =>
  reads().deliveries(key, readPage({ last: last ?? 20 }).limit);

export const deliveryOfTask = async ({ key }: TaskView, _: unknown, { reads }: Context) =>
  (await reads().deliveries(key, 1))[0];

export const queuePosition = ({ key, deliveryState }: TaskView, _: unknown, { reads }: Context) =>
  deliveryState === 'QUEUED' ? reads().queuePosition(key) : null;

export const messagesOfTask = ({ key }: TaskView, page: PageArgs, { reads }: Context) => reads().messages(key, page);

export const statusMessage = ({ key }: TaskView, _: unknown, { reads }: Context) => reads().statusMessage(key);

export const artifactsOfTask = ({ key }: TaskView, _: unknown, { reads }: Context) => reads().artifacts(key);

export const eventsOfTask = (
  { key }: TaskView,
  { afterSeq, ...page }: PageArgs & { afterSeq?: Maybe<number> },
  { reads }: Context,
) => {
  if (afterSeq != null && afterSeq < 0)
    throw new DomainError('BAD_INPUT', `afterSeq is ${afterSeq}; events are counted from 1`);
  return reads().events(
    key,
    afterSeq == null || page.after != null ? page : { ...page, after: encodeCursor(afterSeq) },
  );
};

export const chargeOfTask = ({ key }: TaskView, _: unknown, { reads }: Context) => reads().charge(key);

export const usageOfTask = async ({ key }: TaskView, _: unknown, { reads }: Context) =>
  (await reads().detail(key))?.usage;

export const metadataOfTask = async ({ key }: TaskView, _: unknown, { reads }: Context) =>
  (await reads().detail(key))?.metadata ?? {};

/** What the final report said, else the text of the artifacts. */
export const resultOfTask = async (
  { key, state }: TaskView,
  _: unknown,
  { reads }: Context,
): Promise<string | null> => {
  if (!isTerminal(state)) return null;
  const said = (await reads().detail(key))?.result;
  if (said != null) return said;
  const artifacts = await reads().artifacts(key);
  const texts = await Promise.all(artifacts.map(async (each) => textOf({ parts: await reads().artifactParts(each) })));
  return texts.join('\n') || null;
};

export const expiresAt = async ({ key }: TaskView, _: unknown, { reads }: Context) =>
  (await reads().deadlines(key))?.expiresAt;

export const timeoutAt = async ({ key }: TaskView, _: unknown, { reads }: Context) =>
  (await reads().deadlines(key))?.timeoutAt;

const needed = <T>(found: T | undefined, what: string): T => {
  if (found === undefined) throw new DomainError('NOT_FOUND', `The task’s ${what} is gone`);
  return found;
};
