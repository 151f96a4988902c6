import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/log.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { ensureEchoAgent } from '../../src/store/echo-agent.ts';
import { ensureFirstOwner } from '../../src/store/first-owner.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
let opened: Database;
beforeAll(async () => {
  opened = openDatabase(database.url, createLog('silent'));
  await ensureFirstOwner(opened.prisma, undefined);
});
afterAll(() => opened.close());

test('an echo of another network that calls itself built in does not get the hub’s token', async () => {
  const { prisma } = opened;
  await ensureEchoAgent(prisma);
  const [network, owner, impostor] = [randomUUID(), randomUUID(), randomUUID()];
  await database.query('insert into network (id, name) values ($1, $2)', [network, 'other']);
  await database.query('insert into "user" (id, network_id, name) values ($1, $2, $3)', [owner, network, 'ada']);
  await database.query(
    `insert into agent (id, network_id, owner_id, name, card) values ($1, $2, $3, 'echo', '{"builtIn": true}')`,
    [impostor, network, owner],
  );
  expect(await ensureEchoAgent(prisma)).toMatch(/^ba_/);
  const { rows } = await database.query('select token_hash from agent where id = $1', [impostor]);
  expect(rows).toEqual([{ token_hash: null }]);
});
