import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { codes } from '../support/codes.ts';
import { openDoors, type Question } from '../support/graphql-socket.ts';
import { brokenText, typedDocument } from '../support/hostile.ts';
import { useHouse } from '../support/house.ts';

// Whatever is sent gets an answer or a typed error, and nobody else waits for it. The bound on the time that the hub does
// nothing else is generous, because machines are noisy; what was measured is reported.

const house = useHouse();
const { doors, close } = openDoors(house);
afterAll(close);
const mostMs = 1_000;

/** How long the process was busy with one thing. The hub is in this process; so is the client, whose work counts too. */
const longestStall = async (work: () => Promise<void>): Promise<number> => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const measured = async () => {
    for (const { count } = delay; delay.count <= count + 1; ) await new Promise((resolve) => setImmediate(resolve));
  };
  delay.enable();
  await measured(); // it compares with the time before
  delay.reset();
  await work();
  await measured(); // else the last stall would not count
  delay.disable();
  return delay.max / 1e6;
};

/** Returns whether a resolver was reached. */
const expectTyped = async (ask: (typeof doors)['http'], question: Question): Promise<boolean> => {
  const { data, errors } = await ask(question);
  if (!errors) expect(data).toBeTypeOf('object');
  for (const { message, extensions } of errors ?? []) {
    expect(message.length).toBeGreaterThan(0);
    expect(codes).toContain(extensions.code);
    expect(extensions.code).not.toBe('INTERNAL');
  }
  return !errors || errors.some(({ path }) => path !== undefined);
};

test.each(Object.entries(doors))('200 generated documents over %s', async (name, ask) => {
  const questions = fc.sample(fc.oneof({ weight: 3, arbitrary: typedDocument }, { weight: 1, arbitrary: brokenText }), {
    numRuns: 200,
    seed: 20_261_118,
  });
  let ran = 0;
  const stallMs = await longestStall(async () => {
    for (const question of questions) if (await expectTyped(ask, question)) ran += 1;
  });
  expect(ran).toBeGreaterThan(20); // the others are refused before
  console.log(`200 generated documents over ${name}: the longest stall was ${stallMs.toFixed(0)} ms`);
  expect(stallMs).toBeLessThan(mostMs);
  expect(await house.get('{ version }')).toEqual(expect.any(String));
});

const many = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n)).join(' ');
const branches = (depth: number, width: number): string =>
  depth === 0 ? 'id' : many(width, () => `parent { ${branches(depth - 1, width)} }`);
const escapes = '\\n'.repeat(200_000);
/** Each is made for one weakness that a GraphQL server can have. */
const crafted: Record<string, Question> = {
  'errors behind half a million lines': { query: `${'\n'.repeat(500_000)}{ ${many(120, (n) => `u${n}`)} }` },
  'refusals behind as many lines as are taken': {
    query: `${'\n'.repeat(2_000)}mutation { ${many(30, (n) => `a${n}: createNetwork(name: "") { key }`)} }`,
  },
  'a field as often as tokens allow': { query: `{ ${many(990, () => 'version')} }` },
  'fields of several levels that may overlap': { query: `{ task(id: "x") { ${branches(3, 6)} } }` },
  'branches that may overlap': { query: `{ task(id: "x") { ${branches(7, 2)} } }` },
  'fragments that may overlap': {
    query: `{ ${many(90, (n) => `...F${n}`)} } ${many(90, (n) => `fragment F${n} on Query { version version }`)}`,
  },
  'fragments that spread each other': {
    query: `{ ...F0 } ${many(60, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F60 on Query { version }`,
  },
  'fragments in a circle': { query: `{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }` },
  'long texts that must be compared': {
    query: `{ task(id: "${escapes}") { id } ${many(100, () => 'task(id: "a") { id }')} }`,
  },
  'introspection that multiplies': {
    query: `{ __schema { types { ${many(10, (n) => `a${n}: fields { ${many(2, (m) => `b${m}: type { ...T }`)} }`)} } } } fragment T on __Type { name ofType { fields { name type { name } } } }`,
  },
  '200,000 items that are wrong': {
    query: 'query($s: [TaskState!]) { tasks(filter: { states: $s }) { edges { cursor } } }',
    variables: { s: Array.from({ length: 200_000 }, () => 'X') },
  },
  '70,000 skills': {
    query: 'mutation($input: RegisterAgentInput!) { registerAgent(input: $input) { token } }',
    variables: { input: { name: 'many', skills: Array.from({ length: 70_000 }, (_, n) => ({ id: `${n}` })) } },
  },
  'brackets only': { query: '{'.repeat(900_000) },
  'a name of a million letters': { query: `{ ${'a'.repeat(1_000_000)} }` },
  'a comment of a million letters': { query: `{ version } #${'a'.repeat(1_000_000)}` },
};

test.each(Object.entries(crafted))('%s', async (what, question) => {
  const stallMs = await longestStall(async () => {
    for (const ask of Object.values(doors)) await expectTyped(ask, question);
  });
  console.log(`${what}: the longest stall was ${stallMs.toFixed(0)} ms`);
  expect(stallMs).toBeLessThan(mostMs);
});

test('long documents are not kept', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const send = async (from: number, syntax: string) => {
    for (let n = from; n < from + 40; n++) await doors.http({ query: `${syntax} #${n}${'x'.repeat(1_000_000)}` });
  };
  await send(0, '{ version }');
  const before = heap();
  await send(100, '{ version }');
  await send(200, '{ version');
  expect((heap() - before) / 1e6).toBeLessThan(30); // of 80 million letters
});
