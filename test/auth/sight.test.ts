import { beforeAll, describe, expect, test } from 'vitest';
import { type Cast, createCast, type Who } from '../support/cast.ts';
import { codeIn, doors } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';
import { insertChild } from '../support/task-tree.ts';

// Who sees what. A tree of tasks that a member asked for:
//
//   root (agent) ── child (first) ── grandchild (second)
//             └──── sibling (third)

const house = useHouse();
let cast: Cast;
const keys: Record<string, string | null> = {};
const ids: Record<string, string> = {};
const contexts: Record<string, string> = {};

beforeAll(async () => {
  cast = await createCast(house);
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => house.registerAgent({ url: null })));
  if (!first || !second || !third) throw new Error('There are three');
  const root = await cast.taken();
  await report(root.id);
  const child = await insertChild(house, root.id, { executor: first, requester: cast.agent });
  const sibling = await insertChild(house, root.id, { executor: third, requester: cast.agent });
  const grandchild = await insertChild(house, child.id, { executor: second, requester: first });
  for (const [name, { id, contextId }] of Object.entries({ root, child, sibling, grandchild })) {
    ids[name] = id;
    contexts[name] = contextId;
  }
  Object.assign(keys, cast.keys, { first: first.token, second: second.token, third: third.token });
});

const report = (taskId: string) =>
  house.get(
    'mutation($input: AppendArtifactInput!) { appendArtifact(input: $input) { id } }',
    { input: { taskId, delivery: 1, artifactId: 'a', text: 'the result' } },
    cast.agent.token,
  );

const all = ['child', 'grandchild', 'root', 'sibling'];
const sights: [who: Who | 'first' | 'second' | 'third', sees: string[]][] = [
  ['viewer', all],
  ['member', all],
  ['otherMember', []],
  ['admin', all],
  ['owner', all],
  ['suspendedAdmin', all],
  ['reader', all],
  ['agent', all], // asked for both children, and the grandchild is a child of one of them
  ['first', ['child', 'grandchild', 'root']],
  ['second', ['child', 'grandchild']],
  ['third', ['root', 'sibling']],
  ['otherAgent', []],
];

describe.each(sights)('%s', (who, sees) => {
  const ask = (query: string, variables: Record<string, unknown> = {}) => house.get(query, variables, keys[who]);
  const namesOf = (found: { edges: { node: { id: string } }[] }, named: Record<string, string>) =>
    found.edges.flatMap(({ node }) => Object.keys(named).filter((name) => named[name] === node.id)).sort();

  test(`sees ${sees.join(', ') || 'nothing'} in lists and look-ups`, async () => {
    const list = await ask('{ tasks { totalCount edges { node { id } } } }');
    expect(namesOf(list, ids)).toEqual(sees);
    expect(list.totalCount).toBe(sees.length);
    for (const [name, id] of Object.entries(ids)) {
      const task = await ask('query($id: ID!) { task(id: $id) { id } }', { id });
      expect(task).toEqual(sees.includes(name) ? { id } : null);
    }
  });

  test('sees the same through filters and agents', async () => {
    const query = 'query($root: ID) { tasks(filter: { rootId: $root }) { edges { node { id } } } }';
    expect(namesOf(await ask(query, { root: ids.root }), ids)).toEqual(sees);
    const agents = await ask('{ agents { edges { node { tasks { edges { node { id } } } } } } }');
    const found = agents.edges.flatMap(({ node }: { node: { tasks: { edges: [] } } }) => node.tasks.edges);
    expect(namesOf({ edges: found }, ids)).toEqual(sees);
  });

  test('sees parents and children as far, and no further', async () => {
    for (const name of sees) {
      const query =
        'query($id: ID!) { task(id: $id) { parent { id } root { id } children { edges { node { id } } } context { tasks { edges { node { id } } } } } }';
      const { parent, root, children, context } = await ask(query, { id: ids[name] });
      const above = { child: 'root', sibling: 'root', grandchild: 'child', root: '' }[name] ?? '';
      expect(parent).toEqual(sees.includes(above) ? { id: ids[above] } : null);
      const top = ['root', above].find((each) => sees.includes(each)) ?? name;
      expect(root).toEqual({ id: ids[top] });
      const below = { root: ['child', 'sibling'], child: ['grandchild'] }[name] ?? [];
      expect(namesOf(children, ids)).toEqual(below.filter((each) => sees.includes(each)));
      expect(namesOf(context.tasks, ids)).toEqual([name]);
    }
  });

  test('sees messages, artifacts and events of these tasks', async () => {
    for (const name of sees) {
      const query =
        'query($id: ID!) { task(id: $id) { messages { edges { node { text } } } artifacts { text } events { edges { node { seq } } } deliveries { number } } }';
      const { messages, events, artifacts, deliveries } = await ask(query, { id: ids[name] });
      expect(messages.edges).toEqual([{ node: { text: 'do it' } }]);
      expect(events.edges.length).toBeGreaterThan(2);
      expect(artifacts).toEqual(name === 'root' ? [{ text: 'the result' }] : []);
      expect(deliveries).toEqual([{ number: 1 }]);
    }
  });

  test.each(['sse', 'socket'] as const)('follows these tasks through %s, and no others', async (door) => {
    const query = 'subscription($id: ID!) { taskEvents(taskId: $id) { seq task { id } } }';
    for (const [name, id] of Object.entries(ids)) {
      const answer = await doors[door](house, { query, variables: { id } }, keys[who] ?? null);
      if (sees.includes(name)) expect(answer.data.taskEvents).toEqual({ seq: 1, task: { id } });
      else expect(codeIn(answer)).toBe('NOT_FOUND');
    }
  });

  test('sees the contexts of what it does, asked for, or owns', async () => {
    const own: Partial<Record<string, string[]>> = {
      first: ['child', 'grandchild'],
      second: ['grandchild'],
      third: ['sibling'],
      agent: ['child', 'root', 'sibling'],
    };
    const expected = own[who] ?? sees;
    expect(namesOf(await ask('{ contexts { edges { node { id } } } }'), contexts)).toEqual(expected);
    for (const [name, id] of Object.entries(contexts)) {
      for (const user of [undefined, cast.people.member.id]) {
        const context = await ask('query($id: ID!, $user: ID) { context(id: $id, user: $user) { id } }', { id, user });
        expect(context).toEqual(expected.includes(name) ? { id } : null);
      }
    }
  });
});
