import { beforeAll, describe, expect, test } from 'vitest';
import { codeIn, doors } from '../support/doors.ts';
import { foreignCases } from '../support/foreign-cases.ts';
import { type Furnished, furnish } from '../support/furnished-network.ts';
import { type Answer, useHouse } from '../support/house.ts';
import { leaksIn, textsIn } from '../support/leaks.ts';
import { hashNetwork, idsOfNetwork } from '../support/network-rows.ts';
import { documentsOf, rootFields, wordArguments } from '../support/selection.ts';

// Whoever asks with another network's ids and names gets nothing, learns nothing, and moves nothing.

const house = useHouse();
let ours: Furnished;
let theirs: Furnished;
let ids: Set<string>;
let before: Record<string, string>;
beforeAll(async () => {
  const made = await house.get('mutation { createNetwork(name: "canarybeta-network") { key } }');
  theirs = await furnish(house, { key: made.key, mark: 'beta' });
  ours = await furnish(house, { key: house.ownerKey, mark: 'alpha' });
  ids = await idsOfNetwork(house, theirs.network.id);
  before = await hashNetwork(house, theirs.network.id);
});

const said = new Set<string>(); // by us: to hear it again tells nothing new
const refusals = ['NOT_FOUND', 'AGENT_NOT_FOUND', 'SKILL_NOT_FOUND'];
const casesOf = (name: string) => {
  const cases = foreignCases[name]?.({ theirs, ours });
  if (!cases) throw new Error(`${name} is new: say in test/support/foreign-cases.ts what to ask it for`);
  return cases;
};

describe.each(rootFields.map((root) => [root.name, root] as const))('%s', (name, root) => {
  test('has a case for each argument that can hold an id, a name or a text', () => {
    const filled = new Set(casesOf(name).flatMap(({ variables }) => pathsIn(variables)));
    const missing = wordArguments(root).filter((path) => !filled.has(path));
    if (missing.length > 0)
      throw new Error(`No case of ${name} fills ${missing.join(', ')}: add one to test/support/foreign-cases.ts`);
  });

  test('tells and moves nothing of another network', async () => {
    const keys = { owner: ours.key, member: ours.user.key, agent: ours.agent.token };
    const door = doors[root.operation === 'subscription' ? 'sse' : 'http'];
    for (const { variables, outcome, by } of casesOf(name)) {
      for (const text of textsIn(variables)) said.add(text);
      const depth = root.operation === 'query' && outcome === 'own' ? 2 : 1;
      for (const query of documentsOf(root, Object.keys(variables), depth))
        for (const [who, key] of Object.entries({ [by]: keys[by], ...keys })) {
          const answer = await door(house, { query, variables }, key);
          const hint = JSON.stringify({ who, query, variables, answer });
          expect(leaksIn(answer, { mark: theirs.mark, ids, said }), hint).toEqual([]);
          if (who === by) expect(outcome === 'own' ? codeIn(answer) : nothingIn(answer), hint).toBeUndefined();
        }
    }
    expect(await hashNetwork(house, theirs.network.id)).toEqual(before);
  });
});

test('no row of one network refers to the other', async () => {
  const { rows } = await house.query(`select t.id from task t
    join agent a on a.id = t.agent_id join context c on c.key = t.context_key join "user" u on u.id = t.user_id
    left join task p on p.key = t.parent_key left join message m on m.task_key = t.key left join feed f on f.task_key = t.key
    where exists (select from unnest(array[a.network_id, c.network_id, u.network_id, p.network_id, m.network_id, f.network_id]) n where n <> t.network_id)`);
  expect(rows).toEqual([]);
});

/** Undefined where there is nothing; else what there is. */
const nothingIn = (answer: Answer): unknown => {
  const code = codeIn(answer);
  if (code !== undefined) return refusals.includes(code) ? undefined : code;
  const [found] = Object.values<{ edges?: unknown[]; totalCount?: number | null } | null>(answer.data);
  if (found === null) return undefined;
  return found?.edges?.length === 0 && !found.totalCount ? undefined : found;
};

/** Such as `input.parts.text`. */
const pathsIn = (value: unknown, path = ''): string[] => {
  if (Array.isArray(value)) return value.flatMap((each) => pathsIn(each, path));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, path ? `${path}.${name}` : name));
};
