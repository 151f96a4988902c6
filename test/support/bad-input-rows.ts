import { encodeCursor } from '../../src/core/page.ts';
import type { Variables } from './bad-input.ts';

// What the schema allows and the domain refuses, for every field that a document can begin with.

/** `code` null: nothing is wrong, there is just nothing there. */
type Bad = [path: string, value: unknown, code: string | null, message: RegExp];
export type Row = {
  as: 'owner' | 'agent';
  good: Variables;
  bad: Bad[];
  /** Documents of their own, for what lies deeper than the first field. */
  also?: [query: string, code: string, message: RegExp][];
};

/** What is there to be named: tasks of an agent, one that waits and one that it works on. */
export type World = { agent: string; waiting: string; working: string; owner: string; externalId: string };

const nobody = '018f0000-0000-7000-8000-000000000000';
const cursors: Record<string, string> = {
  'not even JSON': 'x',
  'of another list': encodeCursor(1, 2, 3),
  'with a time that is none': encodeCursor(1e300, nobody),
  'with a time before all': encodeCursor(-8e15, nobody),
  'with a key that is none': encodeCursor(1, 'x'),
  'with NUL': encodeCursor('\0'),
  'with a number below 0': encodeCursor(-1),
  'with half a number': encodeCursor(1.5),
};
const pages: Bad[] = [
  ...['first', 'last'].flatMap((name): Bad[] => [
    [name, -1, 'BAD_INPUT', new RegExp(`${name} is -1`)],
    [name, 101, 'BAD_INPUT', new RegExp(`${name} is 101`)],
    [name, 2_147_483_647, 'BAD_INPUT', new RegExp(`${name} is 2147483647`)],
  ]),
  ...['after', 'before'].flatMap((name) =>
    Object.values(cursors).map((cursor): Bad => [name, cursor, 'BAD_INPUT', /cursor/]),
  ),
];
/** The same for a list that lies deeper. */
const pagesOf = (query: (args: string) => string): [string, string, RegExp][] =>
  pages.map(([name, value, code, message]) => [query(`${name}: ${JSON.stringify(value)}`), code ?? '', message]);
const noSuch = (path: string, what: string): Bad[] =>
  [nobody, 'x', '', `${nobody}0`, '-1'].map((id) => [path, id, 'NOT_FOUND', new RegExp(`There is no ${what} ${id}`)]);
const nothing = (path: string): Bad[] => [nobody, 'x', '', '%', '-1'].map((id) => [path, id, null, /^$/]);
const parts: Bad[] = [
  ['input.parts', [{}], 'BAD_INPUT', /Part 1 needs exactly one/],
  ['input.parts', [{ text: 'x', url: 'x' }], 'BAD_INPUT', /Part 1 needs exactly one/],
  ['input.parts', [{ text: 'x' }, { data: null }], 'BAD_INPUT', /Part 2 needs exactly one/],
  ['input.parts', [{ raw: 'no base64!' }], 'BAD_INPUT', /Part 1 has raw bytes/],
  ['input.parts', Array.from({ length: 101 }, () => ({ text: 'x' })), 'TOO_LARGE', /101 parts/],
  ['input.parts', Array.from({ length: 5_001 }, () => ({ text: 'x' })), 'TOO_LARGE', /more than 5000 items/],
];
const saying = (message = /nothing to say/): Bad[] => [
  ...parts,
  ['input.parts', undefined, 'BAD_INPUT', message],
  ['input.parts', [], 'BAD_INPUT', message],
];
const outside = (path: string, ...values: number[]): Bad[] =>
  values.map((value) => [path, value, 'BAD_INPUT', new RegExp(`${path.split('.').at(-1)} is ${value}; it must be`)]);
const names = (path: string, message: RegExp, ...more: string[]): Bad[] =>
  ['', 'x'.repeat(129), 'a\u0007b', '\u200b', ...more].map((name) => [path, name, 'BAD_INPUT', message]);
const deliveries = (path: string): Bad[] =>
  [-1, 0, 2, 2_147_483_647].map((number) => [path, number, 'STALE_DELIVERY', /delivery/i]);

export const rowsFor = ({ agent, waiting, working, owner, externalId }: World): Record<string, Row> => ({
  'Query.version': { as: 'owner', good: {}, bad: [] },
  'Query.viewer': {
    as: 'owner',
    good: {},
    bad: [],
    also: pagesOf((page) => `{ viewer { inputRequests(${page}) { edges { cursor } } } }`),
  },
  'Query.task': {
    as: 'owner',
    good: { id: waiting },
    bad: nothing('id'),
    also: [
      ...['children', 'messages', 'events'].flatMap((list) =>
        pagesOf((page) => `{ task(id: "${waiting}") { ${list}(${page}) { edges { cursor } } } }`),
      ),
      [`{ task(id: "${waiting}") { deliveries(last: -1) { id } } }`, 'BAD_INPUT', /last is -1/],
      [`{ task(id: "${waiting}") { deliveries(last: 101) { id } } }`, 'BAD_INPUT', /last is 101/],
      [`{ task(id: "${waiting}") { events(afterSeq: -1) { edges { cursor } } } }`, 'BAD_INPUT', /afterSeq is -1/],
    ],
  },
  'Query.tasks': {
    as: 'owner',
    good: {},
    bad: [...pages, ...['userId', 'parentId', 'rootId'].flatMap((name) => nothing(`filter.${name}`))],
  },
  'Query.context': {
    as: 'owner',
    good: { id: 'c' },
    bad: [...nothing('id'), ...nothing('user')],
    also: pagesOf((page) => `{ context(id: "c") { tasks(${page}) { edges { cursor } } } }`),
  },
  'Query.contexts': { as: 'owner', good: {}, bad: pages },
  'Query.agent': {
    as: 'owner',
    good: { name: agent },
    bad: nothing('name'),
    also: pagesOf((page) => `{ agent(name: "${agent}") { tasks(${page}) { edges { cursor } } } }`),
  },
  'Query.agents': { as: 'owner', good: {}, bad: pages },

  'Mutation.sendMessage': {
    as: 'owner',
    good: { input: { agent, parts: [{ text: 'x' }] } },
    bad: [
      ...saying(),
      ['input.text', 'x', 'BAD_INPUT', /text or parts, not both/],
      ['input.parts', [{ text: '' }], 'BAD_INPUT', /nothing to say/],
      ['input.agent', undefined, 'BAD_INPUT', /Name the agent/],
      ['input.agent', '', 'BAD_INPUT', /Name the agent/],
      ['input.agent', 'nobody', 'AGENT_NOT_FOUND', /no agent nobody/],
      ['input.skill', 'none', 'SKILL_NOT_FOUND', /no skill none/],
      ['input.skill', '', 'SKILL_NOT_FOUND', /no skill/],
      ...['taskId', 'messageId', 'inReplyTo'].flatMap((name) =>
        ['x', '', '1', `${nobody}0`].map(
          (id): Bad => [`input.${name}`, id, 'BAD_INPUT', new RegExp(`${name} must be a UUID`)],
        ),
      ),
      ...names('input.contextId', /context’s id/),
      ...outside('input.ttlSeconds', 0, -1, 86_401),
      ...outside('input.timeoutSeconds', 0, -1, 604_801),
      ...outside('input.waitSeconds', -1, 601),
      ...[5, 'x', [], true].map((value): Bad => ['input.metadata', value, 'BAD_INPUT', /metadata must be an object/]),
      ['input.kind', 'BROADCAST', 'BAD_INPUT', /BROADCAST/],
      ['input.kind', 'REPLY', 'BAD_INPUT', /name it with taskId/],
    ],
  },
  'Mutation.cancelTask': {
    as: 'owner',
    good: { id: waiting },
    bad: [...noSuch('id', 'task'), ['reason', 'x'.repeat(10_001), 'TOO_LARGE', /reason has 10001/]],
  },
  'Mutation.retryTask': {
    as: 'owner',
    good: { id: waiting },
    bad: [...noSuch('id', 'task'), ['id', waiting, 'ILLEGAL_TRANSITION', /SUBMITTED/]],
  },
  'Mutation.ackTask': {
    as: 'agent',
    good: { id: waiting, delivery: 1 },
    bad: [...noSuch('id', 'task'), ...deliveries('delivery')],
  },
  'Mutation.reportStatus': {
    as: 'agent',
    good: { input: { taskId: working, delivery: 1, state: 'WORKING' } },
    bad: [
      ...noSuch('input.taskId', 'task'),
      ...deliveries('input.delivery'),
      ...parts,
      ['input.state', 'SUBMITTED', 'BAD_INPUT', /cannot report SUBMITTED/],
      ['input.state', 'EXPIRED', 'BAD_INPUT', /cannot report EXPIRED/],
      ...[0, -1].map((n): Bad => ['input.n', n, 'BAD_INPUT', new RegExp(`it is ${n}`)]),
      ['input.n', 7, 'BAD_INPUT', /7/],
      ...['', 'no ink', 'X'.repeat(65), 'no_ink'].map(
        (reason): Bad => ['input.reason', reason, 'BAD_INPUT', /reason is a code/],
      ),
    ],
  },
  'Mutation.appendArtifact': {
    as: 'agent',
    good: { input: { taskId: working, delivery: 1, artifactId: 'a', parts: [{ text: 'x' }] } },
    bad: [
      ...noSuch('input.taskId', 'task'),
      ...deliveries('input.delivery'),
      ...saying(),
      ['input.artifactId', '', 'BAD_INPUT', /artifact’s id/],
      ['input.artifactId', 'x'.repeat(129), 'BAD_INPUT', /artifact’s id/],
      ['input.n', 0, 'BAD_INPUT', /it is 0/],
    ],
  },
  'Mutation.postMessage': {
    as: 'agent',
    good: { input: { taskId: working, parts: [{ text: 'x' }] } },
    bad: [
      ...noSuch('input.taskId', 'task'),
      ...saying(),
      ['input.parts', [{ text: '' }], 'BAD_INPUT', /nothing to say/],
      ...['TASK', 'BROADCAST'].map((kind): Bad => ['input.kind', kind, 'BAD_INPUT', new RegExp(kind)]),
      ...['x', '', '1'].map((id): Bad => ['input.inReplyTo', id, 'BAD_INPUT', /inReplyTo must be a UUID/]),
    ],
  },
  'Mutation.registerAgent': {
    as: 'owner',
    good: { input: { name: 'fresh' } },
    bad: [
      ...names('input.name', /agent’s name/, 'system', 'System', 'a b', '-a', 'é', 'x'.repeat(65), 'a\n'),
      ['input.name', agent, 'CONFLICT', new RegExp(agent)],
      ...['', 'x', 'http://x', 'ws-agent://', 'ws-agent://a/b', 'javascript:alert(1)'].map(
        (url): Bad => ['input.url', url, 'BAD_INPUT', /url must be/],
      ),
      ...[[], 5, 'x'].map((card): Bad => ['input.card', card, 'BAD_INPUT', /card must be an object/]),
      ...outside('input.capacity', 0, -1, 10_001),
      ...outside('input.timeoutSeconds', 0, 604_801),
      ...outside('input.graceSeconds', -1, 86_401),
      ...outside('input.maxAttempts', 0, 101),
      ['input.skills', [{ id: 'a' }, { id: 'a' }], 'BAD_INPUT', /skill a is named twice/],
      ...names('input.skills', /skill’s id/).map(([path, id, ...rest]): Bad => [path, [{ id }], ...rest]),
      ['input.skills', [{ id: 'a', price: '-0.01' }], 'BAD_INPUT', /price of a/],
      ['input.skills', Array.from({ length: 101 }, (_, n) => ({ id: `${n}` })), 'TOO_LARGE', /101 skills/],
    ],
  },
  'Mutation.createNetwork': { as: 'owner', good: { name: 'fresh' }, bad: names('name', /network’s name/) },
  'Mutation.createUser': {
    as: 'owner',
    good: { input: { name: 'fresh' } },
    bad: [
      ...names('input.name', /user’s name/, 'system', 'SYSTEM'),
      ...names('input.externalId', /externalId/).filter(([, id]) => String(id).length < 129),
      ['input.externalId', 'x'.repeat(257), 'BAD_INPUT', /externalId/],
      ['input.externalId', externalId, 'CONFLICT', new RegExp(externalId)],
    ],
  },
  'Mutation.setUserStatus': {
    as: 'owner',
    good: { userId: owner, status: 'BLOCKED' },
    bad: [...noSuch('userId', 'user'), ['userId', owner, 'FORBIDDEN', /own status/]],
  },
  'Mutation.createApiKey': {
    as: 'owner',
    good: { input: { name: 'fresh' } },
    bad: [
      ...noSuch('input.userId', 'user'),
      ...names('input.name', /key’s name/),
      ...['', 'admin', 'READ'].map(
        (scope): Bad => ['input.scopes', ['read', scope], 'BAD_INPUT', new RegExp(`no scope ${scope}`)],
      ),
      ...['2020-01-01T00:00:00Z', '0000-01-01T00:00:00Z'].map(
        (at): Bad => ['input.expiresAt', at, 'BAD_INPUT', /expiresAt lies in the past/],
      ),
    ],
  },
  'Mutation.revokeApiKey': { as: 'owner', good: { id: nobody }, bad: noSuch('id', 'key') },

  'Subscription.taskEvents': {
    as: 'owner',
    good: { taskId: waiting },
    bad: [
      ...noSuch('taskId', 'task'),
      ['after', -1, 'BAD_INPUT', /after is -1/],
      ['after', 1_000, 'BAD_INPUT', /log ends at/],
      ['after', 2_147_483_647, 'BAD_INPUT', /log ends at/],
    ],
  },
});
