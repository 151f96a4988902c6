import DataLoader from 'dataloader';

/** What is asked in the same moment for many keys becomes one statement. Nothing is kept: the next moment reads anew. */
export const batch = <Value>(
  read: (keys: string[]) => Promise<[key: string, value: Value][]>,
): ((key: string) => Promise<Value | undefined>) => {
  const loader = new DataLoader<string, Value | undefined>(
    async (keys) => {
      const values = new Map(await read([...new Set(keys)]));
      return keys.map((key) => values.get(key));
    },
    { cache: false },
  );
  return (key) => loader.load(key);
};

/** The same for questions with arguments: those with equal ones share a statement. */
export const batchBy = <Arguments, Value>(
  read: (keys: string[], args: Arguments) => Promise<[key: string, value: Value][]>,
): ((key: string, args: Arguments) => Promise<Value | undefined>) => {
  const batches = new Map<string, (key: string) => Promise<Value | undefined>>();
  return (key, args) => {
    const name = JSON.stringify(args);
    const found = batches.get(name) ?? batch<Value>((keys) => read(keys, args));
    batches.set(name, found);
    return found(key);
  };
};

/** Rows by the key they belong to, in their order. */
export const groupBy = <Row>(rows: Row[], keyOf: (row: Row) => string): [string, Row[]][] => {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups];
};
