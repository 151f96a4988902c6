import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Invoked, Line, Told } from './record.ts';

/** What one actor wrote down. */
export type File = { network: string; lines: Line[] };

/** A deed and what its actor was told; undefined: nothing. */
export type Deed = Invoked & { network: string; told: Told | undefined };

export const readFiles = (directory: string): File[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ network: name.split('-')[0] ?? '', lines: readLines(join(directory, name)) }));

/** An agent that was killed has torn its line, and its next life has gone on in it. */
const readLines = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        return [JSON.parse(text) as Line];
      } catch {
        return [];
      }
    });

export const deedsOf = (files: File[]): Deed[] =>
  files.flatMap(({ network, lines }) => {
    const deeds = new Map<string, Deed>();
    for (const line of lines) {
      if (line.at === 'invoke') deeds.set(line.op, { ...line, network, told: undefined });
      else if (line.at === 'ok' || line.at === 'fail' || line.at === 'unknown') {
        const deed = deeds.get(line.op);
        if (deed) deed.told = line;
      }
    }
    return [...deeds.values()];
  });

export type Registered = { ms: number; connection: number };

/** By delivery: which connections were told that they have it, and since when. */
export const holdersOf = (files: File[]) => {
  const executed = new Map<string, Set<number>>();
  const resumed = new Map<string, (Registered & { lastN: number })[]>();
  for (const { lines } of files)
    for (const line of lines) {
      if (line.at === 'executed') {
        const name = `${line.task}:${line.delivery}`;
        executed.set(name, (executed.get(name) ?? new Set()).add(line.connection));
      }
      if (line.at === 'registered')
        for (const { task, delivery, lastN } of line.resumed) {
          const name = `${task}:${delivery}`;
          const { ms, connection } = line;
          resumed.set(name, [...(resumed.get(name) ?? []), { ms, connection, lastN }]);
        }
    }
  return { executed, resumed };
};
export type Holders = ReturnType<typeof holdersOf>;
