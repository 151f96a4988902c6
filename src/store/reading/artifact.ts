import type pg from 'pg';
import type { Chunk, Part } from '../../core/command.ts';
import type { ArtifactView, Reads } from '../../core/reads.ts';
import { batch, groupBy } from './batch.ts';

export const readArtifacts = (pool: pg.Pool): Pick<Reads, 'artifacts' | 'artifactParts'> => {
  const ofTasks = batch(async (keys) => {
    const { rows } = await pool.query<ArtifactView>({
      name: 'read artifacts',
      text: `select task_key as "taskKey", artifact_id as "artifactId", name, description, first_seq as "firstSeq", last_seq as "lastSeq",
          size, complete, created_at as "createdAt", updated_at as "updatedAt"
        from artifact where task_key = any($1) order by task_key, first_seq`,
      values: [keys],
    });
    return groupBy(rows, ({ taskKey }) => taskKey);
  });
  return {
    artifacts: async (task) => (await ofTasks(task)) ?? [],

    async artifactParts({ taskKey, artifactId, firstSeq, lastSeq }) {
      const { rows } = await pool.query({
        name: 'read chunks',
        text: `select first_seq, payload from event where task_key = $1 and seq >= $2 and first_seq <= $3 and kind = 'ARTIFACT' order by seq`,
        values: [taskKey, firstSeq, lastSeq],
      });
      const chunks = rows.flatMap(({ first_seq, payload }) =>
        (payload as Chunk[]).filter((chunk, index) => {
          const seq = first_seq + index;
          return chunk.artifactId === artifactId && seq >= firstSeq && seq <= lastSeq;
        }),
      );
      return joined(chunks.flatMap(({ parts }) => parts));
    },
  };
};

/** Texts that follow each other are one text. */
const joined = (parts: Part[]): Part[] => {
  const all: Part[] = [];
  let texts: string[] = [];
  const close = (): void => {
    if (texts.length > 0) all.push({ text: texts.join('') });
    texts = [];
  };
  for (const part of parts) {
    const { text, ...more } = part;
    if (text !== undefined && Object.keys(more).length === 0) texts.push(text);
    else {
      close();
      all.push(part);
    }
  }
  close();
  return all;
};
