// Programs send the same few documents again and again: they are parsed once. Long ones carry values and come once;
// kept, a thousand of them would fill the memory.

const most = 1_000;
const longest = 10_000;

export type DocumentCache<T> = { get(source: string): T | undefined; set(source: string, parsed: T): void };

/** The one that was used longest ago makes room. */
export const createDocumentCache = <T>(): DocumentCache<T> => {
  const kept = new Map<string, T>();
  return {
    get(source) {
      const parsed = kept.get(source);
      if (parsed === undefined) return undefined;
      kept.delete(source);
      kept.set(source, parsed);
      return parsed;
    },
    set(source, parsed) {
      if (source.length > longest) return;
      kept.set(source, parsed);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
  };
};
