import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { welcome } from '../../src/welcome.ts';
import { postmasterOf } from '../support/data-directory.ts';
import { queryOnce, useDatabase } from '../support/database.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { readAnswer, readExamples, runProgram } from '../support/examples.ts';
import type { Answer } from '../support/house.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

// What a stranger does with what the hub prints, and the agent that is there for it.

const empty = useDatabase({ empty: true });
const adminKey = 'the-first-key-of-the-owner';

/** The lines to paste: from the left edge on. */
const commandsOf = (hub: Hub) => {
  const [, commands = ''] = hub.stdout().match(/\n(export BATON_KEY=[\s\S]*?\n)\n {2}/) ?? [];
  return commands;
};
/** As a person would: the lines go to a shell one by one. Tells in which pieces the answer came. */
const paste = async (commands: string): Promise<string[]> => {
  const shell = spawn('bash', [], {
    env: { PATH: process.env.PATH, TEST_RUN_ID: inject('runId') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pieces: string[] = [];
  shell.stdout.setEncoding('utf8').on('data', (text) => pieces.push(text));
  shell.stdin.end(commands);
  await once(shell, 'close');
  return pieces;
};
const wordsIn = (text: string) => [...text.matchAll(/"text":"([^"]*)"/g)].map(([, word]) => word).join('');
const expectLiveWords = async (commands: string) => {
  const pieces = await paste(commands);
  const text = pieces.join('');
  expect(text).toMatch(/^{"data":{"sendMessage":{"id":"[-0-9a-f]{36}","state":"(SUBMITTED|WORKING)"}}}\n/);
  expect(wordsIn(text)).toBe('Hello from the hub, word by word');
  expect(text).toMatch(/"to":"COMPLETED"}}}\n\nevent: complete/);
  expect(pieces.filter((piece) => piece.includes('"text"')).length).toBeGreaterThan(1); // as it happens, not at the end
};
const ask = async (hub: Hub, query: string): Promise<Answer['data']> => {
  const response = await fetch(`${hub.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as Answer).data;
};
const agentsOf = async (hub: Hub): Promise<{ name: string; connected: boolean }[]> =>
  (await ask(hub, '{ agents { edges { node { name connected } } } }')).agents.edges.map(
    ({ node }: Answer['data']) => node,
  );
const echoIsConnected = (hub: Hub) =>
  until(async () => (await agentsOf(hub)).some(({ name, connected }) => name === 'echo' && connected), 'echo');
const embedded = () => ({ BATON_DATA_DIR: temporaryDirectory(), BATON_ADMIN_KEY: adminKey });
const stopped = async (hub: Hub, signal: NodeJS.Signals = 'SIGTERM') => {
  hub.kill(signal);
  await hub.ended;
};

test('the commands of the welcome stream the words of echo, at the first start and, with the key, at a later one', async () => {
  const env = { BATON_DATA_DIR: temporaryDirectory() };
  const first = await startHub({ env });
  await expectLiveWords(commandsOf(first));
  const [key = ''] = first.stdout().match(/bk_[\w-]{43}/) ?? [];
  await stopped(first);

  const second = await startHub({ env });
  expect(second.stdout()).not.toContain(key);
  expect(second.stdout()).toContain('with your key');
  await expectLiveWords(commandsOf(second).replace('<your key>', key));
});

test.each([undefined, 'bk_'.padEnd(46, 'x')])('the welcome fits into 100 columns, with the key %s', (newKey) => {
  const ready = { version: '0.1.0', url: 'http://127.0.0.1:65535', dataDir: '/home/you/baton/.baton', newKey };
  for (const hasEcho of [true, false])
    for (const line of welcome({ ...ready, hasEcho }, randomUUID).split('\n')) expect(line.length).toBeLessThan(101);
});

test('without the key the commands are refused, and say why', async () => {
  const hub = await startHub({ env: embedded() });
  const text = (await paste(commandsOf(hub))).join('');
  expect(text.match(/"code":"UNAUTHENTICATED"/g)).toHaveLength(2);
});

test('echo is there again after every start, also after a kill', async () => {
  const env = embedded();
  const first = await startHub({ env });
  await echoIsConnected(first);
  await stopped(first);
  const second = await startHub({ env });
  await echoIsConnected(second);
  await stopped(second, 'SIGKILL');
  const third = await startHub({ env });
  await echoIsConnected(third);
  await expectLiveWords(commandsOf(third).replace('<your key>', adminKey));
  expect(await agentsOf(third)).toEqual([{ name: 'echo', connected: true }]);
});

test('echo stays away when it was removed', async () => {
  const env = embedded();
  const first = await startHub({ env });
  await queryOnce(postmasterOf(env.BATON_DATA_DIR).url, "update agent set removed_at = now() where name = 'echo'");
  await stopped(first);
  const second = await startHub({ env });
  expect(await agentsOf(second)).toEqual([]);
  const text = (await paste(commandsOf(second).replace('<your key>', adminKey))).join('');
  expect(JSON.parse(text)).toEqual({ data: { viewer: { user: { name: 'owner' }, network: { name: 'default' } } } });
});

test('echo leaves its name to an agent of the admin', async () => {
  const env = embedded();
  const first = await startHub({ env });
  const { url } = postmasterOf(env.BATON_DATA_DIR);
  await queryOnce(url, "update agent set removed_at = now() where name = 'echo'");
  const register = await ask(first, 'mutation { registerAgent(input: { name: "echo" }) { agent { name } } }');
  expect(register).toEqual({ registerAgent: { agent: { name: 'echo' } } });
  await stopped(first);
  const second = await startHub({ env });
  expect(await agentsOf(second)).toEqual([{ name: 'echo', connected: false }]);
});

test('an agent of the admin that happens to be called echo is left alone', async () => {
  const env = embedded();
  const first = await startHub({ env });
  const { url } = postmasterOf(env.BATON_DATA_DIR);
  await queryOnce(url, `update agent set card = '{"mine": true}', token_prefix = null, token_hash = null`);
  await stopped(first);
  const second = await startHub({ env });
  expect(await agentsOf(second)).toEqual([{ name: 'echo', connected: false }]);
  const { rows } = await queryOnce(postmasterOf(env.BATON_DATA_DIR).url, 'select token_hash from agent');
  expect(rows).toEqual([{ token_hash: null }]);
});

test('on a PostgreSQL of your own there is no echo, and the command of the welcome tells who you are', async () => {
  const hub = await startHub({ env: { DATABASE_URL: empty.url } });
  const text = (await paste(commandsOf(hub))).join('');
  expect(JSON.parse(text)).toEqual({ data: { viewer: { user: { name: 'owner' }, network: { name: 'default' } } } });
  expect((await empty.query('select from agent')).rowCount).toBe(0);
});

test('the README shows what a stranger sees: the welcome, a first task and its live answer', async () => {
  const cwd = temporaryDirectory();
  const hub = await startHub({ cwd });
  const [key = ''] = hub.stdout().match(/bk_[\w-]{43}/) ?? [];
  const readme = readFileSync('README.md', 'utf8')
    .replaceAll('http://127.0.0.1:4000', hub.url)
    .replaceAll('ws://127.0.0.1:4000', hub.url.replace('http', 'ws'))
    .replaceAll('/home/you/baton', cwd)
    .replaceAll('bk_…', key);
  const [, shown] = readme.match(/```text\n([\s\S]*?)```/) ?? [];
  expect(hub.stdout()).toContain(shown);

  const [ask, watch, ...others] = readExamples(readme).filter(({ text }) => text.includes('curl'));
  expect(others).toEqual([]);
  for (const example of [ask, watch])
    expect(readAnswer(await runProgram('bash', ['-c', example?.text ?? ''], { BATON_KEY: key }))).toEqual(
      readAnswer(example?.answer ?? ''),
    );
});
