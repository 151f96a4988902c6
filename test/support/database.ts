import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';

export type TestDatabase = { url: string; query: (sql: string, values?: unknown[]) => Promise<pg.QueryResult> };

/** A database of this file's own, cloned from the migrated template; `empty`: without anything in it. */
export const useDatabase = ({ empty = false } = {}): TestDatabase => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href;
  beforeAll(() => administer(`create database ${name} template ${empty ? 'template0' : 'baton'}`));
  afterAll(() => administer(`drop database ${name}`)); // fails while somebody is still connected
  return { url, query: (sql, values) => queryOnce(url, sql, values) };
};

/** How many sessions of this database wait for an advisory lock. */
export const waitingForLock = `select count(*)::int as waiting from pg_locks
  where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`;

export const queryOnce = async (url: string, sql: string, values?: unknown[]): Promise<pg.QueryResult> => {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(sql, values);
  } finally {
    await client.end();
  }
};

const administer = (sql: string) =>
  queryOnce(Object.assign(new URL(inject('postgresUrl')), { pathname: '/postgres' }).href, sql);
