import { execFile } from 'node:child_process';
import { inject } from 'vitest';

// The fenced examples of a page, so that a test can run them: a block that asks, and the block with its answer behind it.
// `<name>` in an answer stands for what differs from run to run: it keeps what it saw first, and means that from then on, in
// answers and in questions. `<time>` is any moment.

export type Example = { line: number; language: string; tag: string; text: string; answer: string };

const asking = new Set(['graphql', 'sh', 'ts']);

export const readExamples = (page: string): Example[] => {
  const blocks = [...page.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = '', 2: tag = '', 3: text = '' }) => ({
      line: page.slice(0, index).split('\n').length,
      language,
      tag,
      text,
    }),
  );
  return blocks.flatMap((block, index) => {
    const answer = blocks[index + 1];
    if (asking.has(block.language) && answer && ['json', 'text'].includes(answer.language))
      return [{ ...block, answer: answer.text }];
    if (block.language === 'graphql' || block.language === 'ts') throw new Error(`Line ${block.line} has no answer`);
    return [];
  });
};

export type Placeholders = Map<string, string>;

/** The text with what its placeholders stand for. */
export const fill = (text: string, known: Placeholders): string =>
  text.replace(/<([a-z][a-z ]*)>/g, (all, name) => known.get(name) ?? all);

/** Where the answer differs from what was expected; undefined: nowhere. New placeholders are learned. */
export const differs = (expected: unknown, actual: unknown, known: Placeholders, path = ''): string | undefined => {
  if (typeof expected === 'string')
    return typeof actual === 'string' && isLike(expected, actual, known) ? undefined : told(path, expected, actual);
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null)
    return Object.is(expected, actual) ? undefined : told(path, expected, actual);
  const [names, others] = [Object.keys(expected), Object.keys(actual)];
  if (Array.isArray(expected) !== Array.isArray(actual) || names.length !== others.length)
    return told(path, expected, actual);
  for (const name of names) {
    const [one, other] = [expected, actual].map((each) => (each as Record<string, unknown>)[name]);
    const problem = differs(one, other, known, `${path}.${name}`);
    if (problem) return problem;
  }
  return undefined;
};

const told = (path: string, expected: unknown, actual: unknown): string =>
  `at ${path || 'the top'}: the page says ${JSON.stringify(expected)}, the hub ${JSON.stringify(actual)}`;

const isLike = (expected: string, actual: string, known: Placeholders): boolean => {
  const names: string[] = [];
  const pattern = fill(expected, known)
    .split(/<([a-z][a-z ]*)>/)
    .map((piece, index) => {
      if (index % 2 === 0) return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      if (piece === 'time') return String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
      names.push(piece);
      return '(\\S+?)';
    });
  const found = new RegExp(`^${pattern.join('')}$`).exec(actual);
  for (const [index, name] of names.entries()) if (found) known.set(name, found[index + 1] ?? '');
  return found !== null;
};

/** An answer as it is compared: JSON by its values, other text by its lines. */
export const readAnswer = (text: string): unknown => {
  if (text.startsWith('{')) return JSON.parse(text);
  return text.split('\n').filter((line) => line !== '' && line !== ':'); // the colon: an event stream's sign of life
};

/** What a program prints. */
export const runProgram = (program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { env: { PATH: process.env.PATH, TEST_RUN_ID: inject('runId'), ...env } };
    execFile(program, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
