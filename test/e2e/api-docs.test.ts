import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limits } from '../../src/graphql/limits.ts';
import { temporaryDirectory } from '../support/directory.ts';
import {
  differs,
  type Example,
  fill,
  type Placeholders,
  readAnswer,
  readExamples,
  runProgram,
} from '../support/examples.ts';
import { startHub } from '../support/hub.ts';

// docs/api.md against a real hub: the page cannot say what is not so.

const page = readFileSync('docs/api.md', 'utf8');
const shownUrl = 'http://127.0.0.1:4000';

/** A GraphQL block is sent with the key or token that its tag names; other blocks are programs. */
const run = async ({ language, tag, text }: Example, url: string, known: Placeholders): Promise<string> => {
  const filled = fill(text, known)
    .replaceAll(shownUrl, url)
    .replaceAll('ws://127.0.0.1:4000', url.replace('http', 'ws'));
  const env = { BATON_KEY: known.get('owner key') };
  if (language === 'sh') return runProgram('bash', ['-c', filled], env);
  if (language === 'ts') return runTypescript(filled, env);
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${known.get(tag || 'owner key')}` },
    body: JSON.stringify({ query: filled }),
  });
  return response.text();
};

/** Beside node_modules, where its imports are found. */
const runTypescript = async (text: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const directory = temporaryDirectory();
  const file = join(directory, 'example.mts');
  writeFileSync(
    file,
    text.replaceAll(/from '([\w-]+)'/g, (_, name) => `from '${import.meta.resolve(name)}'`),
  );
  return runProgram(process.execPath, ['--import', import.meta.resolve('tsx'), file], env);
};

test('every example of the page is answered as the page says', async () => {
  const [settings = ''] = page.match(/(BATON_JWT_\w+=\S+ \\?\s*)+/) ?? [];
  const env = Object.fromEntries([...settings.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
  const hub = await startHub({ env: { ...env, BATON_DATA_DIR: temporaryDirectory() } });
  const known: Placeholders = new Map([['owner key', hub.stdout().match(/bk_[\w-]{43}/)?.[0] ?? '']]);
  const problems: string[] = [];
  for (const example of readExamples(page)) {
    const answer = await run(example, hub.url, known);
    const problem = differs(readAnswer(example.answer), readAnswer(answer), known);
    if (problem) problems.push(`docs/api.md:${example.line} ${problem}`);
  }
  expect(problems).toEqual([]);
});

const rowsUnder = (heading: string): string[][] => {
  const [section = ''] = page.split(`\n## ${heading}\n`)[1]?.split('\n## ') ?? [];
  return [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) => row.split(' | ')).slice(2);
};

test('the page lists every error code, in the order of the code', () => {
  const source = readFileSync('src/core/domain-error.ts', 'utf8');
  const [, list = ''] = source.match(/const errorCodes = \[([\s\S]*?)\]/) ?? [];
  const codes = [...list.matchAll(/'(\w+)'/g)].map(([, code]) => `\`${code}\``);
  expect(rowsUnder('Errors').map(([code]) => code)).toEqual(codes);
});

test('the page tells the limits of documents as the code has them', () => {
  const kept = Object.values(limits).map((limit) => limit.toLocaleString('en'));
  expect(
    rowsUnder('Limits')
      .slice(0, kept.length)
      .map(([, limit]) => limit),
  ).toEqual(kept);
});
