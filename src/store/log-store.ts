import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import { type Flush, type LogStore, RefusedFlush } from '../core/ports.ts';
import { flushRows } from './flush-rows.ts';
import { readAvailable, readLanes, readLoads, readRivals, readTasks } from './heads.ts';

// The writer's own connection. One statement commits a batch; when the connection breaks under it, nobody knows whether it
// did. Then it is repeated on a new one: the statement itself waits for the old backend to end, and looks the flush up in
// the feed. A first try that arrives even later finds that its heads have moved on.

type Options = { url: string; log: Log; defaultTtlSeconds: number };

export type WriterStore = LogStore & { close(): Promise<void> };

// The heads of a flush are few and their keys are known. The planner cannot see that in JSON: up to about 10,000 tasks it would
// scan the table (measured: 5.1 ms instead of 0.3 ms per update).
const settings = [
  'jit=off',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'lock_timeout=5s',
  'synchronous_commit=on',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

export const openLogStore = ({ url, log, defaultTtlSeconds }: Options): WriterStore => {
  const writer = randomBytes(6).readUIntBE(0, 6); // the key of this process's lock
  const epoch = 1;
  let connection: pg.Client | undefined;
  let isClosed = false;

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: withSettings(url),
      application_name: 'baton writer',
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => {
      if (connection === client) connection = undefined;
    });
    await client.connect();
    return client;
  };

  /** Waits for the database as long as it takes. */
  const connected = async (): Promise<pg.Client> => {
    while (!connection) {
      if (isClosed) throw new Error('The store is closed');
      connection = await connect().catch(() => undefined);
      if (!connection) await sleep(250);
    }
    return connection;
  };

  const read = async <T>(question: (client: pg.Client) => Promise<T>): Promise<T> => {
    for (;;) {
      const client = await connected();
      try {
        return await question(client);
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        lose(client);
      }
    }
  };

  const lose = (client: pg.Client): void => {
    if (connection === client) connection = undefined;
    void client.end().catch(() => undefined);
  };

  const flush = async (batch: Flush): Promise<ReadonlySet<number>> => {
    let isRepeat = false;
    for (;;) {
      const client = await connected();
      try {
        const values = flushValues(batch, { writer, isRepeat, epoch, defaultTtlSeconds });
        const { rows } = await client.query({ name: 'flush', text: flushText, values });
        return new Set(rows[0].missed as number[]);
      } catch (error) {
        const { code = '', message } = error as pg.DatabaseError;
        if (/^(22|23|BA)/.test(code)) throw new RefusedFlush(message, { cause: error });
        if (isRollback.has(code)) {
          log.warn({ code, message }, 'A flush was rolled back and is repeated');
          continue;
        }
        if (!isConnectionLoss(error)) throw error;
        lose(client);
        isRepeat = true; // it may have happened, and it may still be on its way
      }
    }
  };

  return {
    readTasks: (keys) => read((client) => readTasks(client, keys)),
    readLanes: (ids) => read((client) => readLanes(client, ids)),
    readLoads: (agents) => read((client) => readLoads(client, agents)),
    readAvailable: (accounts) => read((client) => readAvailable(client, accounts)),
    readRivals: (commands) => read((client) => readRivals(client, commands)),
    flush,
    async close() {
      isClosed = true;
      await connection?.end().catch(() => undefined);
    },
  };
};

/** The address may bring options of its own, and those alone would count. */
const withSettings = (url: string): string => {
  const own = new URL(url);
  own.searchParams.set('options', `${own.searchParams.get('options') ?? ''} ${settings}`.trim());
  return own.href;
};

/** A deadlock, a lock that was waited for too long, a statement that was cancelled: nothing was written. */
const isRollback = new Set(['40P01', '40001', '55P03', '57014']);

const isConnectionLoss = (error: unknown): boolean => {
  const { code = '', message } = error as pg.DatabaseError;
  return (
    /^(57P0|08)/.test(code) ||
    (!/^\w{5}$/.test(code) && /connection|terminated|ECONN|EPIPE|timeout/i.test(`${code} ${message}`))
  );
};

const flushText = `select flush_v2(${Array.from({ length: 28 }, (_, index) => `$${index + 1}`).join(', ')}) as missed`;

const flushValues = (
  { id, atMs, groups }: Flush,
  {
    writer,
    isRepeat,
    epoch,
    defaultTtlSeconds,
  }: { writer: number; isRepeat: boolean; epoch: number; defaultTtlSeconds: number },
) => {
  const { events, ...rows } = flushRows(groups);
  const json = (name: keyof typeof rows) => JSON.stringify(rows[name]);
  const column = (name: string) => events.map((event) => event[name]);
  return [
    writer,
    id,
    isRepeat,
    epoch,
    new Date(atMs),
    defaultTtlSeconds,
    json('lanes'),
    json('heads'),
    json('births'),
    json('messages'),
    json('deliveries'),
    json('waits'),
    json('deadlines'),
    json('details'),
    json('artifacts'),
    json('loads'),
    json('accounts'),
    json('charges'),
    json('confirmations'),
    column('grp'),
    column('task'),
    column('seq'),
    column('first_seq'),
    column('kind'),
    column('from'),
    column('to'),
    column('actor'),
    events.map(({ payload }) => JSON.stringify(payload)),
  ];
};
