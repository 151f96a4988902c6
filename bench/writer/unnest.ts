import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Ground } from '../ground.ts';
import { chunkText } from '../load/chunk.ts';
import type { Contender, Written } from './contender.ts';
import { startStopwatch } from './stopwatch.ts';

// The limit: rows into a plain table, 64 in a statement, one of each task in flight. No heads, no rules, no answers.

export const plainTable = `create schema bench;
  create table bench.event (task_key uuid, seq int, at timestamptz not null, payload json not null, primary key (task_key, seq))`;

export const openUnnest = async (url: string, { contexts }: Ground): Promise<Contender> => {
  const client = new pg.Client(url);
  client.on('error', () => undefined); // the statement under way tells it
  await client.connect();
  const slots = contexts.length;

  return {
    async round({ chunksPerTask, lastBeginMs }, onMeasured) {
      const written: Written = [];
      const watch = startStopwatch();
      let commits = 0;
      do {
        const keys = Array.from({ length: slots }, () => randomUUID());
        let seq = 0;
        while (seq < chunksPerTask && watch.elapsedMs() < lastBeginMs) {
          seq += 1;
          const payload = JSON.stringify({ artifactId: 'a', parts: [{ text: chunkText(seq) }] });
          const values = [keys, keys.map(() => seq), keys.map(() => payload)];
          await client.query({ ...insert, values });
          commits += 1;
        }
        written.push(...keys.map((key) => ({ key, chunks: seq })));
      } while (watch.elapsedMs() < lastBeginMs);
      onMeasured({ ...watch.read(), chunks: commits * slots, commits, missedGroups: 0 });
      return written;
    },
    close: () => client.end(),
  };
};

const insert = {
  name: 'insert',
  text: `insert into bench.event (task_key, seq, at, payload)
    select task_key, seq, now(), payload::json from unnest($1::uuid[], $2::int[], $3::text[]) e(task_key, seq, payload)`,
};
