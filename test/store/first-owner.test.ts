import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { ensureFirstOwner } from '../../src/store/first-owner.ts';
import { useDatabase, waitingForLock } from '../support/database.ts';
import { until } from '../support/until.ts';

const { url, query } = useDatabase();
const { prisma, close } = openDatabase(url, createLog('silent'));
const sha256 = (key: string) => createHash('sha256').update(key).digest();
const keys = async () => (await query('select * from api_key order by id')).rows;
const given = 'a key of at least twenty-four characters';

afterAll(close);
beforeEach(() => query('truncate network cascade'));

test('the first start makes a network, its owner and a key, which is stored only as a hash', async () => {
  const { newKey: key = '' } = await ensureFirstOwner(prisma, undefined);
  expect(Buffer.from(key.slice(3), 'base64url')).toHaveLength(32);
  const { rows } = await query('select u.role, u.status, n.name from "user" u join network n on n.id = u.network_id');
  expect(rows).toEqual([{ role: 'OWNER', status: 'ACTIVE', name: 'default' }]);
  const [stored] = await keys();
  expect(stored).toMatchObject({ prefix: key.slice(0, 8), hash: sha256(key), revoked_at: null });
  expect(JSON.stringify(stored)).not.toContain(key);
});

test('later starts make nothing and show nothing', async () => {
  await ensureFirstOwner(prisma, undefined);
  expect(await ensureFirstOwner(prisma, undefined)).toEqual({});
  expect(await keys()).toHaveLength(1);
});

test('a key from the settings is taken and never shown', async () => {
  expect(await ensureFirstOwner(prisma, given)).toEqual({});
  expect(await keys()).toMatchObject([{ hash: sha256(given), revoked_at: null }]);
});

test('the same setting again changes nothing, another one replaces it', async () => {
  await ensureFirstOwner(prisma, given);
  await ensureFirstOwner(prisma, given);
  expect(await keys()).toHaveLength(1);
  await ensureFirstOwner(prisma, `${given}, new`);
  expect(await keys()).toMatchObject([
    { hash: sha256(given), revoked_at: expect.any(Date) },
    { hash: sha256(`${given}, new`), revoked_at: null },
  ]);
});

test('who lost the printed key gets in with a key from the settings', async () => {
  await ensureFirstOwner(prisma, undefined);
  await ensureFirstOwner(prisma, given);
  const [printed, fromSettings] = await keys();
  expect(fromSettings).toMatchObject({ user_id: printed.user_id, hash: sha256(given), revoked_at: null });
});

test('a revoked key is not revived by a restart', async () => {
  await ensureFirstOwner(prisma, given);
  await query('update api_key set revoked_at = now()');
  expect(await ensureFirstOwner(prisma, given)).toEqual({ isRevoked: true });
  expect(await keys()).toMatchObject([{ revoked_at: expect.any(Date) }]);
});

test('hubs that start together make one owner', async () => {
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query(`begin; select pg_advisory_xact_lock(${0x6f776e72})`);
  const both = [ensureFirstOwner(prisma, undefined), ensureFirstOwner(prisma, undefined)];
  await until(async () => (await query(waitingForLock)).rows[0].waiting === 2, 'two hubs in line');
  await holder.query('commit');
  await holder.end();
  const made = await Promise.all(both);
  expect(made.filter(({ newKey }) => newKey)).toHaveLength(1);
  expect((await query('select from "user"')).rowCount).toBe(1);
});

test('the database refuses a hash that is none, a prefix of another length, and empty names', async () => {
  await ensureFirstOwner(prisma, undefined);
  const refused = (sql: string) => expect(query(sql)).rejects.toMatchObject({ code: '23514' });
  await refused("update api_key set hash = 'plain text'");
  await refused("update api_key set prefix = 'short'");
  await refused(`update "user" set name = ''`);
  await refused(`update "user" set external_id = ''`);
  await refused("update network set name = ''");
});
