import pg from 'pg';
import type { Log } from '../core/log.ts';

// A bell between instances. It carries no truth: whoever hears it looks, and whoever does not looks a second later.

export type Bus = {
  /** Tells the other instances that something changed: at most 100 times a second. */
  ring(): void;
  stop(): Promise<void>;
};

type Options = { url: string; onRing: () => void; log: Log };

const channel = 'baton';
const quietMs = 10;
const reconnectMs = 1_000;

/** Never one NOTIFY per transaction: those would queue up behind each other. */
export const openBus = ({ url, onRing, log }: Options): Bus => {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let connecting: Promise<void> | undefined;
  let isStopped = false;

  const connect = async (): Promise<void> => {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'baton bus',
      connectionTimeoutMillis: 5_000,
    });
    fresh.on('notification', ({ processId }) => {
      if (processId !== (fresh as unknown as { processID: number }).processID) onRing();
    });
    fresh.on('error', ({ message }) =>
      log.warn({ message }, 'The bell between instances fell silent; looking every second'),
    );
    fresh.on('end', () => {
      if (client === fresh) client = undefined;
      tryAgain();
    });
    try {
      await fresh.connect();
      await fresh.query(`listen ${channel}`);
      client = fresh;
    } catch {
      await fresh.end().catch(() => undefined);
      tryAgain();
    }
  };

  /** However often it is asked for: one at a time. */
  const tryAgain = (): void => {
    if (isStopped) return;
    retry ??= setTimeout(() => {
      retry = undefined;
      connecting = connect();
    }, reconnectMs);
  };
  connecting = connect();

  return {
    ring() {
      timer ??= setTimeout(() => {
        timer = undefined;
        client?.query(`notify ${channel}`).catch(() => undefined);
      }, quietMs);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      clearTimeout(retry);
      await connecting;
      await client?.end().catch(() => undefined);
    },
  };
};
