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
      for (const line of readLines<Line>(join(directory, name))) {
        if (line.at === 'invoke') deeds.set(line.op, { ...line, told: undefined });
        else {
          const deed = deeds.get(line.op);
          if (deed) deed.told = line;
        }
      }
      return [...deeds.values()];
    })
    .sort((one, other) => one.ms - other.ms); // what was sent again, by another instance too, comes after the first time

/** The codes of flushes that the database rolled back, as the instances were told. */
export const readRollbacks = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.rollbacks'))
    .flatMap((name) => readLines<{ code: string }>(join(directory, name)))
    .map(({ code }) => code);

/** The last line may be torn: its writer was killed. */
const readLines = <T>(path: string): T[] => {
  const texts = readFileSync(path, 'utf8').split('\n');
  const rest = texts.pop(); // '' when the last line is whole
  const lines = texts.map((text) => JSON.parse(text) as T);
  try {
    if (rest) lines.push(JSON.parse(rest) as T);
  } catch {
    // torn
  }
  return lines;
};
