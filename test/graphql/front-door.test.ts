import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openGraphqlSocket } from '../support/graphql-socket.ts';
import { useHouse } from '../support/house.ts';

// What comes through the door at all: how large, in which shape, from which page.

const listed = 'https://app.example.com';
const house = useHouse({ BATON_ORIGINS: `${listed},https://other.example.com` });
const mebibyte = 1_048_576;
const make = 'mutation { createNetwork(name: "made") { key } }';

const networks = async () => (await house.query('select count(*)::int as count from network')).rows[0].count;
const isAlive = async () => expect(await house.get('{ version }')).toEqual(expect.any(String));
const errorOf = async (response: Response) =>
  ((await response.json()) as { errors: { message: string; extensions: { code: string } }[] }).errors[0];
/** A body of exactly that many bytes. */
const bodyOf = (bytes: number) => {
  const body = JSON.stringify({ query: '{ version }', variables: { x: '' } });
  return body.replace('""', `"${'x'.repeat(bytes - body.length)}"`);
};

test('a body of 1 MiB is taken, a larger one is TOO_LARGE, whether or not it says so before', async () => {
  expect((await house.post(bodyOf(mebibyte))).status).toBe(200);
  const large = await house.post(bodyOf(mebibyte + 1));
  expect(large.status).toBe(413);
  expect(await errorOf(large)).toMatchObject({ extensions: { code: 'TOO_LARGE' } });
  const chunked = await fetch(`${house.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new Blob([bodyOf(mebibyte + 1)]).stream(),
    duplex: 'half',
  } as RequestInit);
  expect(chunked.status).toBe(413);
  expect(await errorOf(chunked)).toMatchObject({ extensions: { code: 'TOO_LARGE' } });
  await isAlive();
});

test('a frame of more than 1 MiB closes its socket, and no other', async () => {
  const [other, guilty] = [
    await openGraphqlSocket(house.url, house.ownerKey),
    await openGraphqlSocket(house.url, house.ownerKey),
  ];
  guilty.sendText(bodyOf(mebibyte + 1));
  expect((await guilty.closed).code).toBe(1009);
  expect((await other.ask({ query: '{ version }' })).data).toEqual({ version: expect.any(String) });
  await other.close();
  await isAlive();
});

test('a frame that is no message closes its socket, and no other', async () => {
  const socket = await openGraphqlSocket(house.url, house.ownerKey);
  socket.sendText('{"type":"subscribe"');
  expect(await socket.closed).toEqual({ code: 4400, reason: 'Invalid message received' });
  await isAlive();
});

const form = new URLSearchParams({ query: make }).toString();
const multipart = `--b\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: make })}\r\n--b\r\ncontent-disposition: form-data; name="map"\r\n\r\n{}\r\n--b--\r\n`;
test.each([
  ['application/x-www-form-urlencoded', form],
  ['multipart/form-data; boundary=b', multipart],
  ['text/plain', JSON.stringify({ query: make })],
  ['text/plain; application/json', JSON.stringify({ query: make })],
  ['application/graphql', make],
  ['application/graphql+json', JSON.stringify({ query: make })],
  ['application/json-seq', JSON.stringify({ query: make })],
  ['application/json, text/plain', JSON.stringify({ query: make })],
  ['', JSON.stringify({ query: make })],
])('a body of the type “%s” is refused, and nothing runs', async (type, body) => {
  const before = await networks();
  const response = await house.post(body, { 'content-type': type });
  expect(response.status).toBe(415);
  expect(await errorOf(response)).toMatchObject({ extensions: { code: 'BAD_INPUT' } });
  expect(await networks()).toBe(before);
});

test('JSON is taken in any letters and with a charset', async () => {
  for (const type of ['application/json', 'Application/JSON', 'application/json; charset=utf-8'])
    expect((await house.post({ query: '{ version }' }, { 'content-type': type })).status).toBe(200);
});

test.each([
  ['a batch', [{ query: make }, { query: make }]],
  ['a batch of one', [{ query: make }]],
  ['nothing', ''],
  ['half a body', '{"query": "{ version'],
  ['null', 'null'],
  ['a text', '"{ version }"'],
  ['no query', { variables: {} }],
  ['a query that is none', { query: 5 }],
  ['variables that are a list', { query: make, variables: [] }],
  ['an operation name that is none', { query: make, operationName: {} }],
])('%s is bad input, and nothing runs', async (_, body) => {
  const before = await networks();
  const response = await house.post(body);
  expect(response.status).toBe(400);
  expect((await errorOf(response))?.extensions).toEqual({ code: 'BAD_INPUT' });
  expect(await networks()).toBe(before);
});

test('by GET one may read, but not change', async () => {
  const before = await networks();
  const get = (parameters: Record<string, string>) =>
    fetch(`${house.url}/graphql?${new URLSearchParams(parameters)}`, {
      headers: { authorization: `Bearer ${house.ownerKey}` },
    });
  expect(await (await get({ query: '{ version }' })).json()).toEqual({ data: { version: expect.any(String) } });
  const change = await get({ query: make });
  expect([change.status, change.headers.get('allow')]).toEqual([405, 'POST']);
  expect((await errorOf(change))?.extensions.code).toBe('BAD_INPUT');
  const chosen = await get({
    query: `query A { version } ${make.replace('mutation', 'mutation B')}`,
    operationName: 'B',
  });
  expect(chosen.status).toBe(405);
  const halfVariables = await get({ query: '{ version }', variables: '{' });
  expect(halfVariables.status).toBe(400);
  expect(await errorOf(halfVariables)).toMatchObject({ message: /variables/, extensions: { code: 'BAD_INPUT' } });
  expect(await networks()).toBe(before);
});

test.each(['PUT', 'DELETE', 'PATCH'])('%s is not a way to ask', async (method) => {
  const response = await fetch(`${house.url}/graphql`, { method, body: '{}' });
  expect(response.status).toBe(405);
  expect((await errorOf(response))?.extensions.code).toBe('BAD_INPUT');
});

/** The status with which a page of that origin is let in. */
const upgradeFrom = async (origin: string | undefined, path = '/graphql') => {
  const socket = new WebSocket(`${house.url.replace('http', 'ws')}${path}`, 'graphql-transport-ws', {
    ...(origin !== undefined && { origin }),
  });
  const status = await new Promise<number>((resolve) => {
    socket.once('open', () => resolve(101));
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => undefined); // it is ended before it was open
  });
  socket.terminate();
  await new Promise((resolve) => socket.once('close', resolve));
  return status;
};

test('only pages of the hub itself and of the list may open sockets', async () => {
  for (const path of ['/graphql', '/hub', '/ws/agents']) {
    for (const origin of [undefined, house.url, listed, 'https://other.example.com'])
      expect(await upgradeFrom(origin, path)).toBe(101);
    for (const origin of [
      'https://evil.example',
      'null',
      `${listed}.evil.example`,
      `${listed}:8443`,
      'http://app.example.com',
    ])
      expect(await upgradeFrom(origin, path)).toBe(403);
  }
});

test('only pages of the list are told that they may read, and never with credentials', async () => {
  const asked = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  for (const origin of [listed, 'https://evil.example', 'null', house.url]) {
    const isListed = origin === listed;
    const answers = [
      await send('OPTIONS', { origin, ...asked }),
      await send('POST', { origin, 'content-type': 'application/json' }, '{"query":"{ version }"}'),
      await send('POST', { origin, 'content-type': 'application/json' }, '{"query":"{"}'),
    ];
    for (const headers of answers) {
      expect(headers['access-control-allow-origin']).toBe(isListed ? origin : undefined);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(
        String(headers.vary ?? '')
          .toLowerCase()
          .split(/, */),
      ).toContain('origin');
    }
    expect(answers[0]?.['access-control-allow-headers']).toBe(isListed ? 'authorization,content-type' : undefined);
  }
});

test('cookies are neither set nor read', async () => {
  const cookie = `authorization=Bearer ${house.ownerKey}; token=${house.ownerKey}`;
  const response = await house.post({ query: '{ viewer { network { id } } }' }, { cookie }, null);
  expect(response.headers.get('set-cookie')).toBeNull();
  expect(await errorOf(response)).toMatchObject({ extensions: { code: 'UNAUTHENTICATED' } });
  const socket = await openGraphqlSocket(house.url, null, { cookie });
  const { errors } = await socket.ask({ query: '{ viewer { network { id } } }' });
  expect(errors?.[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
  await socket.close();
  expect((await house.post({ query: '{ version }' })).headers.get('set-cookie')).toBeNull();
});

/** fetch would not let a test say its origin. */
const send = async (method: string, headers: Record<string, string>, body = '') => {
  const asking = request(`${house.url}/graphql`, { method, headers, agent: false });
  asking.end(body);
  const [response] = await once(asking, 'response');
  response.resume();
  await once(response, 'close');
  return response.headers as Record<string, string | undefined>;
};
