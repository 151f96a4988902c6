import type { Change, TaskEvent } from '../core/draft.ts';
import { sizeOf } from '../core/part.ts';

type Row = Record<string, unknown>;
type ArtifactRow = {
  id: string | null;
  drops: boolean;
  first_seq?: number;
  last_seq?: number;
  size: number;
  [column: string]: unknown;
};

/** The chunks themselves are the events; here is where they begin and end. */
export const artifactRows = (run: number, drafts: { events: TaskEvent[]; changes: Change[] }[]): Row[] => {
  const drops: ArtifactRow[] = [];
  const rows = new Map<string, ArtifactRow>();
  for (const { events, changes } of drafts) {
    if (changes.some(({ kind }) => kind === 'dropArtifacts')) {
      rows.clear();
      drops.push({ id: null, drops: true, size: 0 });
    }
    for (const event of events) {
      if (event.kind !== 'ARTIFACT') continue;
      const { artifactId: id, name, description, parts, append, lastChunk } = event.payload;
      if (!append) {
        rows.delete(id);
        drops.push({ id, drops: true, size: 0 });
      }
      const before = rows.get(id);
      rows.set(id, {
        id,
        drops: false,
        name: name ?? before?.name ?? null,
        description: description ?? before?.description ?? null,
        run,
        first_seq: before?.first_seq ?? event.seq,
        last_seq: event.seq,
        size: (before?.size ?? 0) + sizeOf(parts),
        complete: lastChunk,
      });
    }
  }
  return [...drops, ...rows.values()];
};
