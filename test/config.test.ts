import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';

test('without settings the hub listens on loopback and keeps its own database', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 4000,
    databaseUrl: undefined,
    dataDir: undefined,
    adminKey: undefined,
    origins: [],
    jwt: undefined,
    waitSeconds: 600,
    heartbeatSeconds: 90,
    leaseSeconds: 10,
    hasWakeUps: true,
    logLevel: 'info',
    unknownSettings: [],
  });
});

test('an empty setting counts as not set', () => {
  expect(readConfig({ PORT: '', DATABASE_URL: '', BATON_ADMIN_KEY: '' })).toEqual(readConfig({}));
});

test('a relative data directory is taken from the current directory', () => {
  expect(readConfig({ BATON_DATA_DIR: 'data' }).dataDir).toBe(resolve('data'));
});

test.each([
  'postgres://localhost/baton',
  'postgresql://user:p%40ss@db.internal:6432/baton?sslmode=require',
  'postgres:///baton?host=/var/run/postgresql',
])('%s is a database address', (url) => {
  expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
});

test.each([
  ['PORT', 'eighty'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['DATABASE_URL', 'mysql://root:hunter2-secret@localhost/baton'],
  ['DATABASE_URL', 'hunter2-secret'],
  ['BATON_ADMIN_KEY', 'hunter2-secret'],
  ['BATON_LOG_LEVEL', 'loud'],
])('%s=%s is refused by name, and no secret is repeated', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^Bad setting: ${name} must`));
  expect(() => readConfig({ [name]: value })).not.toThrow(/hunter2/);
});

test('all bad settings are named at once', () => {
  expect(() => readConfig({ PORT: 'x', BATON_LOG_LEVEL: 'y' })).toThrow(/PORT must.*BATON_LOG_LEVEL must/);
});

test('a misspelt setting is noticed', () => {
  expect(readConfig({ BATON_ADMINKEY: 'x', OTHER: 'y' }).unknownSettings).toEqual(['BATON_ADMINKEY']);
});
