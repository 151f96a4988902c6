import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Command } from '../../src/core/command.ts';
import { createWriter } from '../../src/core/writer.ts';
import { createLog } from '../../src/log.ts';
import { openLogStore } from '../../src/store/log-store.ts';
import type { Ground } from '../ground.ts';
import { chunkText } from '../load/chunk.ts';
import { benchClock, benchTask, type Holder } from './commands.ts';
import type { Contender, Plan, Written } from './contender.ts';
import { startStopwatch } from './stopwatch.ts';

// The physical limit: the statements that the writer would send, made beforehand with batches as large as the hub's, then sent
// one after the other on the same connection by a loop that does nothing else.

type Statement = { name: string; text: string; values: unknown[] };

export const openLimit = (url: string, ground: Ground): Contender => {
  const store = openLogStore({ url, log: createLog('warn'), defaultTtlSeconds: 3_600 });
  const send = pg.Client.prototype.query;
  const holder: Holder = { holder: randomUUID(), instance: randomUUID() };

  /** Lets the writer write a round, and keeps what it would have sent. */
  const record = async (plan: Plan) => {
    const statements: { client: pg.Client; statement: Statement }[] = [];
    const keep = async function (this: pg.Client, statement: Statement) {
      if (statement.name !== 'flush') throw new Error(`The writer would also send ${statement.text}`);
      statements.push({ client: this, statement });
      return { rows: [{ missed: [] }] };
    };
    Object.assign(pg.Client.prototype, { query: keep });
    const writer = createWriter({
      store,
      clock: benchClock,
      freshVersion: () => Math.floor(Math.random() * 2 ** 47),
      onCommit: () => undefined,
    });
    try {
      const written: Written = [];
      for (const batch of batchesOf(plan, { ground, holder, written }))
        await Promise.all(batch.map((command) => writer.submit(command))); // what is submitted in one turn goes together
      return { statements, written };
    } finally {
      Object.assign(pg.Client.prototype, { query: send });
    }
  };

  return {
    async round(plan, onMeasured) {
      const { statements, written } = await record(plan);
      const watch = startStopwatch();
      for (const { client, statement } of statements) {
        const { rows } = await client.query(statement);
        if (rows[0].missed.length > 0) throw new Error('A batch was missed');
      }
      const chunks = written.reduce((sum, each) => sum + each.chunks, 0);
      onMeasured({ ...watch.read(), chunks, commits: statements.length, missedGroups: 0 });
      return written;
    },
    close: () => store.close(),
  };
};

type Making = { ground: Ground; holder: Holder; written: Written };

/** Tasks in flight take turns, each with an equal share of the batch. */
function* batchesOf(
  { chunksPerTask, perFlush = 512, chunksInAll = 40_000 }: Plan,
  making: Making,
): Generator<Command[]> {
  const { ground, holder, written } = making;
  const slots = ground.contexts.length;
  const waves = Math.max(1, Math.round(chunksInAll / slots / chunksPerTask));
  const share = Math.max(1, Math.round(perFlush / slots));
  for (let wave = 0; wave < waves; wave++) {
    const lives = ground.contexts.map((context) => {
      const { key, create, acknowledge, chunk, complete } = benchTask({ ground, holder, context });
      written.push({ key, chunks: chunksPerTask });
      const chunks = Array.from({ length: chunksPerTask }, (_, index) => chunk(index + 1, chunkText(index + 1)));
      return { create, reports: [acknowledge, ...chunks, complete(chunksPerTask + 1)] };
    });
    yield lives.map(({ create }) => create); // nobody reports on a task before it is there
    for (let at = 0; at < chunksPerTask + 2; at += share)
      yield lives.flatMap(({ reports }) => reports.slice(at, at + share));
  }
}
