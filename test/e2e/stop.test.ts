import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { launchHub, startHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

const { url: databaseUrl } = useDatabase();
const body = JSON.stringify({ query: '{ version }' });

/** A request whose last byte is not sent yet. */
const openRequest = async (url: string) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  const closed = once(socket, 'close');
  const head = ['POST /graphql HTTP/1.1', 'host: hub', 'content-type: application/json', 'expect: 100-continue'];
  socket.write(`${[...head, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body.slice(0, -1)}`);
  await until(() => received.includes('100 Continue'), 'the hub to read the request');
  return { finish: () => socket.write(body.slice(-1)), closed, received: () => received };
};
const stopping = (hub: { stderr(): string }) => until(() => hub.stderr().includes('Stopping'), 'the hub to stop');

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends the hub with 0 and its PostgreSQL cleanly',
  async (signal) => {
    const dataDir = temporaryDirectory();
    const hub = await startHub({ env: { BATON_DATA_DIR: dataDir } });
    hub.kill(signal);
    expect(await hub.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
  },
);

test('a request in flight is answered before the hub ends, a new one is not taken', async () => {
  const hub = await startHub({ env: { DATABASE_URL: databaseUrl } });
  const request = await openRequest(hub.url);
  hub.kill('SIGTERM');
  await stopping(hub);
  await expect(fetch(`${hub.url}/livez`)).rejects.toThrow();
  request.finish();
  await request.closed;
  expect(request.received()).toContain('{"data":{"version":"0.1.0"}}');
  expect(await hub.ended).toEqual({ code: 0, signal: null });
});

test('a request that never ends does not keep the hub', async () => {
  const hub = await startHub({ env: { DATABASE_URL: databaseUrl } });
  const request = await openRequest(hub.url);
  const since = process.hrtime.bigint();
  hub.kill('SIGTERM');
  expect(await hub.ended).toEqual({ code: 0, signal: null });
  await request.closed;
  expect(Number(process.hrtime.bigint() - since) / 1e9).toBeLessThan(20); // the promise itself is a time
});

test('a second signal ends at once and still sends PostgreSQL home', async () => {
  const dataDir = temporaryDirectory();
  const hub = await startHub({ env: { BATON_DATA_DIR: dataDir } });
  const request = await openRequest(hub.url);
  hub.kill('SIGTERM');
  await stopping(hub);
  hub.kill('SIGINT');
  expect((await hub.ended).code).toBe(1);
  await request.closed;
  await until(() => !existsSync(join(dataDir, 'postgres/postmaster.pid')), 'PostgreSQL to stop');
});

test('a signal during the start ends the hub cleanly too, and no key is made that nobody sees', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = launchHub({ env });
  await until(() => existsSync(join(env.BATON_DATA_DIR, 'postgres/postmaster.pid')), 'PostgreSQL to be on its way');
  first.kill('SIGTERM');
  expect(await first.ended).toEqual({ code: 0, signal: null });
  expect(existsSync(join(env.BATON_DATA_DIR, 'postgres/postmaster.pid'))).toBe(false);
  const second = await startHub({ env });
  expect([first, second].filter((hub) => hub.stdout().includes('API key'))).toHaveLength(1);
});

test('connections that ask for nothing do not keep the hub', async () => {
  const hub = await startHub({ env: { DATABASE_URL: databaseUrl } });
  const silent = connect(Number(new URL(hub.url).port), '127.0.0.1').on('error', () => undefined);
  await once(silent, 'connect');
  const kept = new Agent({ keepAlive: true });
  await new Promise((resolve) =>
    get(`${hub.url}/livez`, { agent: kept }, (response) => response.resume().on('end', resolve)),
  );
  const closed = once(silent, 'close');
  hub.kill('SIGTERM');
  await closed; // by the hub
  expect(await hub.ended).toEqual({ code: 0, signal: null });
  kept.destroy();
});

test('a stop while PostgreSQL is being brought back leaves none behind', async () => {
  const dataDir = temporaryDirectory();
  const hub = await startHub({ env: { BATON_DATA_DIR: dataDir } });
  const [pid] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  await until(() => hub.stderr().includes('went away'), 'the hub to notice');
  hub.kill('SIGTERM');
  expect(await hub.ended).toEqual({ code: 0, signal: null });
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
});
