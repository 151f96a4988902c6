import type { Context } from '../context.ts';
import { DomainError } from '../core/domain-error.ts';
import type { ChargeView, EventView, MessageView } from '../core/reads.ts';
import { lostKey } from './lost-key.ts';
import { present } from './task.ts';

type EventOf<Kind extends EventView['kind']> = Extract<EventView, { kind: Kind }>;

export const taskOfEvent = ({ task }: EventView, _: unknown, context: Context) => present(context, task);

export const detailOf = (event: EventView): string | null =>
  event.kind === 'DELIVERY' ? (event.payload.detail ?? null) : null;

export const messageOfEvent = ({ payload, seq, atMs }: EventOf<'MESSAGE'>): MessageView => ({
  ...payload.message,
  seq,
  createdAt: new Date(atMs),
});

export const statusMessageOfEvent = ({ payload }: EventOf<'STATUS'>, _: unknown, { reads }: Context) =>
  payload.messageId === undefined ? null : reads().message(payload.messageId);

/** Who may not see what the task costs learns only that something was booked. */
export const chargeOfEvent = async (
  { task, to, payload, atMs }: EventOf<'CHARGE'>,
  _: unknown,
  { reads }: Context,
): Promise<ChargeView | null> =>
  (await reads().charge(task)) ? { amount: payload.amount, state: to, at: new Date(atMs) } : null;

type TaskEventsArgs = { taskId: string; after?: number | null | undefined; keepOpen?: boolean | null | undefined };

export const taskEvents = async (_: unknown, { taskId, ...args }: TaskEventsArgs, context: Context) => {
  const [after, keepOpen] = [args.after ?? 0, args.keepOpen ?? false];
  const { reads, watchers, gone } = context;
  const task = await reads().task(taskId);
  if (!task) throw new DomainError('NOT_FOUND', `There is no task ${taskId}`);
  if (after < 0) throw new DomainError('BAD_INPUT', `after is ${after}; events are counted from 1`);
  const ended = new AbortController();
  const events = watchers.watch({ task: task.key, after, keepOpen, signal: AbortSignal.any([gone, ended.signal]) });
  const forgetPass = context.onPassEnded(() => ended.abort());
  const forget = (): void => {
    forgetPass();
    gone.removeEventListener('abort', forget); // a socket outlives many streams
  };
  // Who is gone before the stream began never asks for an event, nor ends it.
  if (gone.aborted) forget();
  else gone.addEventListener('abort', forget, { once: true });
  return following(events, ended.signal, forget);
};

/** A key that was revoked ends the stream with an error: it must not look as if the task had ended. */
const following = (
  events: AsyncIterableIterator<EventView>,
  ended: AbortSignal,
  forget: () => void,
): AsyncIterableIterator<EventView> => ({
  async next() {
    const result = await events.next().catch((error) => {
      forget();
      throw error;
    });
    if (!result.done) return result;
    forget();
    if (ended.aborted) throw lostKey();
    return result;
  },
  async return() {
    forget();
    await events.return?.();
    return { done: true, value: undefined };
  },
  [Symbol.asyncIterator]() {
    return this;
  },
});
