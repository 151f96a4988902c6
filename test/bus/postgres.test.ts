import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openBus } from '../../src/bus/postgres.ts';
import { createLog } from '../../src/log.ts';
import { useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = useDatabase();
const log = createLog('silent');

test('who rings is heard by the others, and not by itself', async () => {
  const heard = { others: 0, own: 0 };
  const count = (who: keyof typeof heard): void => {
    heard[who] += 1;
  };
  const others = openBus({ url: database.url, log, onRing: () => count('others') });
  const bus = openBus({ url: database.url, log, onRing: () => count('own') });
  await until(() => {
    bus.ring();
    return heard.others > 0;
  }, 'the bell to be heard');
  expect(heard.own).toBe(0);
  await Promise.all([bus.stop(), others.stop()]);
});

test('while the database is away it is asked once a second, however long it takes', async () => {
  const attempts: number[] = [];
  const server = createServer((socket) => {
    attempts.push(performance.now());
    socket.on('error', () => undefined).destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const bus = openBus({ url: `postgres://nobody@127.0.0.1:${port}/none`, log, onRing: () => undefined });
  await until(() => attempts.length >= 4, 'it to try again');
  await bus.stop();
  server.close();
  const gaps = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThan(500); // a timer is never early
});
