import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Invoked, Line, Told } from './record.ts';

/** A deed and what its actor was told; undefined: nothing, its process died first. */
export type Deed = Invoked & { told: Told | undefined };

export const readDeeds = (directory: string): Deed[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => {
      const deeds = new Map<string, Deed>();
      for (const line of readLines(join(directory, name))) {
        if (line.at === 'invoke') deeds.set(line.op, { ...line, told: undefined });
        else {
          const deed = deeds.get(line.op);
          if (deed) deed.told = line;
        }
      }
      return [...deeds.values()];
    });

/** The last line may be torn: its writer was killed. */
const readLines = (path: string): Line[] => {
  const texts = readFileSync(path, 'utf8').split('\n');
  const rest = texts.pop(); // '' when the last line is whole
  const lines = texts.map((text) => JSON.parse(text) as Line);
  try {
    if (rest) lines.push(JSON.parse(rest) as Line);
  } catch {
    // torn
  }
  return lines;
};
