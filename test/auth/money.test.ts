import { beforeAll, expect, test } from 'vitest';
import { type Cast, createCast, type Who } from '../support/cast.ts';
import { useHouse } from '../support/house.ts';

// Money is seen by whose it is, and by admins.

const house = useHouse();
let cast: Cast;
let id: string;
beforeAll(async () => {
  cast = await createCast(house);
  const { member, viewer } = cast.people;
  await house.query('update account set balance = 100 where user_id = any($1)', [[member.id, viewer.id]]);
  ({ id } = await house.send({ agent: cast.otherAgent.name, text: 'a cat', skill: 'paint' }, member.key));
});

const query = `query($id: ID!) { task(id: $id) {
  charge { amount state } user { account { balance held available } }
  requester { ... on User { account { balance } } } agent { owner { account { balance } } }
  events { edges { node { seq ... on ChargeEvent { charge { amount state } } } } }
} }`;

test.each<[Who, boolean, boolean]>([
  ['member', true, false],
  ['admin', true, true],
  ['owner', true, true],
  ['suspendedAdmin', true, true],
  ['reader', true, true],
  ['viewer', false, false],
  ['otherAgent', false, false], // does the task
])('%s: sees the member’s money: %s, the owner’s: %s', async (who, isSeen, isOwnersSeen) => {
  const task = await house.get(query, { id }, cast.keys[who]);
  const charge = { amount: '1.500000', state: 'HELD' };
  expect(task.charge).toEqual(isSeen ? charge : null);
  expect(task.user.account).toEqual(
    isSeen ? { balance: '100.000000', held: '1.500000', available: '98.500000' } : null,
  );
  expect(task.requester.account).toEqual(isSeen ? { balance: '100.000000' } : null);
  expect(task.agent.owner.account).toEqual(isOwnersSeen ? { balance: '0.000000' } : null);
  const lines: { node: { seq: number; charge?: object | null } }[] = task.events.edges;
  expect(lines.map(({ node }) => node.seq)).toEqual(lines.map((_, index) => index + 1)); // no gap where it is hidden
  expect(lines.flatMap(({ node }) => ('charge' in node ? [node.charge] : []))).toEqual([isSeen ? charge : null]);
});

test.each<[Who, string | null]>([
  ['member', '100.000000'],
  ['otherMember', '0.000000'],
  ['viewer', '100.000000'],
  ['suspended', '0.000000'],
  ['agent', null],
])('%s has the own account before the eyes', async (who, balance) => {
  const { account } = await house.get('{ viewer { account { balance } } }', {}, cast.keys[who]);
  expect(account).toEqual(balance === null ? null : { balance });
});
