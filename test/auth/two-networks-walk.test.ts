import { beforeAll, expect, test } from 'vitest';
import { doors } from '../support/doors.ts';
import { type Furnished, furnish } from '../support/furnished-network.ts';
import { useHouse } from '../support/house.ts';
import { leaksIn, textsIn } from '../support/leaks.ts';
import { idsOfNetwork } from '../support/network-rows.ts';
import { documentsOf, rootFields } from '../support/selection.ts';

// Whoever asks for everything sees everything of the own network, and nothing of the other.

const house = useHouse();
let ours: Furnished;
let theirs: Furnished;
let ids: Set<string>;
beforeAll(async () => {
  const made = await house.get('mutation { createNetwork(name: "canarybeta-network") { key } }');
  theirs = await furnish(house, { key: made.key, mark: 'beta' });
  ours = await furnish(house, { key: house.ownerKey, mark: 'alpha' });
  ids = await idsOfNetwork(house, theirs.network.id);
});

/** What each argument is filled with; the others are left out. */
const own: Record<string, () => Record<string, unknown>[]> = {
  'Query.agents': () => [{ first: 10 }],
  'Query.contexts': () => [{ first: 10 }],
  'Query.tasks': () => [{ first: 10 }],
  'Query.agent': () => [{ name: ours.agent.name }],
  'Query.context': () => [{ id: ours.contextId }],
  'Query.task': () => [{ id: ours.tasks.child }],
  'Subscription.taskEvents': () => [{ taskId: ours.tasks.done }],
};

/** Nobody waits for one answer before the next question. */
const atOnce = 8;
const reads = rootFields.filter(({ operation }) => operation !== 'mutation');
const seen = new Set<string>();
let asked = 0;

test.each(reads.map((root) => [root.name, root] as const))('%s, three objects deep', async (name, root) => {
  for (const key of [ours.key, ours.user.key, ours.agent.token])
    for (const variables of own[name]?.() ?? [{}])
      await inTurns(documentsOf(root, Object.keys(variables), 3), async (query) => {
        const answers: unknown[] = [];
        if (root.operation === 'query') answers.push(await doors.http(house, { query, variables }, key));
        else for await (const { data } of house.sse(query, variables, key)) answers.push(data);
        asked += 1;
        expect(JSON.stringify(answers), query).not.toContain('"errors"');
        expect(leaksIn(answers, { mark: theirs.mark, ids }), query).toEqual([]);
        for (const text of textsIn(answers)) seen.add(text);
      });
});

const inTurns = async <T>(all: T[], act: (each: T) => Promise<void>): Promise<void> => {
  const left = all.values();
  const work = async (): Promise<void> => {
    for (const each of left) await act(each);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};

test('on the way everything was seen that is there to see', () => {
  expect(asked).toBeGreaterThan(500);
  const all = [...seen].join('\n');
  expect(ours.canaries.filter((canary) => !all.includes(canary))).toEqual([]);
  expect(leaksIn([...seen], { mark: ours.mark, ids: new Set() }).length).toBeGreaterThan(ours.canaries.length / 2);
});
