type Write = (fields: object, message: string) => void;

/** What a room needs of a logger. */
export type Log = { debug: Write; info: Write; warn: Write; error: Write };
