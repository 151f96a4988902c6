import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export type Reader = { query(text: string, values?: unknown[]): Promise<pg.QueryResult> };

const patienceMs = 30_000;

/** Asks the database again until it answers: the run crashes it on purpose. Ask nothing that must not happen twice. */
export const createPatientClient = (url: string): Reader & { end(): Promise<void> } => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'chaos',
    max: 2,
    connectionTimeoutMillis: 5_000,
  });
  pool.on('error', () => undefined); // the next question makes a new connection
  const query: Reader['query'] = async (text, values) => {
    for (const untilMs = Date.now() + patienceMs; ; await sleep(100)) {
      try {
        return await pool.query(text, values);
      } catch (error) {
        if (!isAway(error) || Date.now() > untilMs) throw error;
      }
    }
  };
  return { query, end: () => pool.end() };
};

const isAway = (error: unknown): boolean => {
  const { code = '', message } = error as pg.DatabaseError;
  return /^(57P0|08)/.test(code) || /connection|terminated|ECONN|timeout/i.test(`${code} ${message}`);
};
