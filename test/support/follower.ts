import { type End, type Line, type Subscription, subscribe, type Transport } from './subscription.ts';

// A client as it should be: when its stream is cut it comes back with the number of the last event it knows.

export type Follower = {
  /** All that it got, over all its connections. */
  seen: Line[];
  /** How each of its connections ended. */
  ends: End[];
  first(count: number): Promise<void>;
  /** Everything was told, and the task is over. */
  completed: Promise<void>;
};

type Following = {
  /** Where to come back to, when there is a hub again. */
  urlOf: () => Promise<string>;
  key: string;
  taskId: string;
  fields?: string;
};

export const follow = (transport: Transport, { urlOf, key, taskId, fields = 'seq' }: Following): Follower => {
  const seen: Line[] = [];
  const ends: End[] = [];
  let current: Subscription | undefined;
  let opened: () => void = () => undefined;
  const live = async (): Promise<void> => {
    for (;;) {
      current = subscribe(transport, { url: await urlOf(), key, taskId, fields, after: seen.at(-1)?.seq ?? 0 });
      opened();
      const end = await current.ended;
      seen.push(...current.events);
      current = undefined;
      ends.push(end);
      if (end.how === 'refused') throw new Error(`Refused: ${JSON.stringify(end)}`);
      if (end.how !== 'cut') return;
    }
  };
  const completed = live();
  completed.catch(() => undefined); // whoever waits for it hears it
  return {
    seen,
    ends,
    completed,
    async first(count) {
      while (seen.length + (current?.events.length ?? 0) < count)
        await (current
          ? current.first(count - seen.length).catch(() => undefined)
          : new Promise<void>((resolve) => {
              opened = resolve;
            }));
    },
  };
};
