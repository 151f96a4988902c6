import { randomUUID } from 'node:crypto';
import type { GraphQLObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { type Cast, createCast, type Who } from '../support/cast.ts';
import { codeIn, doorNames, doors } from '../support/doors.ts';
import { useHouse } from '../support/house.ts';

// Who may do what: every field of the schema, whoever asks, through every door.

const house = useHouse();
let cast: Cast;
beforeAll(async () => {
  cast = await createCast(house);
});

/** `yes`, `null` where nothing is there for the caller, or the code of the refusal. */
type Outcomes = Record<Who, string>;
type Row = {
  query: string;
  variables?: (cast: Cast, who: Who) => Promise<Record<string, unknown>>;
  outcomes: Outcomes;
};

const everybody: Outcomes = {
  nobody: 'yes',
  viewer: 'yes',
  member: 'yes',
  otherMember: 'yes',
  admin: 'yes',
  owner: 'yes',
  agent: 'yes',
  otherAgent: 'yes',
  suspended: 'yes',
  suspendedAdmin: 'yes',
  reader: 'yes',
};
const known: Outcomes = { ...everybody, nobody: 'UNAUTHENTICATED' };
const whoMaySee = (elseWhat: string): Outcomes => ({ ...known, otherMember: elseWhat, otherAgent: elseWhat });
const none: Outcomes = {
  ...(Object.fromEntries(Object.keys(known).map((who) => [who, 'FORBIDDEN'])) as Outcomes),
  nobody: 'UNAUTHENTICATED',
};
const admins: Outcomes = { ...none, admin: 'yes', owner: 'yes', suspendedAdmin: 'USER_INACTIVE' };
const executor: Outcomes = { ...none, agent: 'yes', otherAgent: 'NOT_FOUND' };
const asleep = { suspended: 'USER_INACTIVE', suspendedAdmin: 'USER_INACTIVE' };
const movers: Outcomes = { ...none, ...asleep, member: 'yes', otherMember: 'NOT_FOUND', admin: 'yes', owner: 'yes' };

const text = (input: object) => ({ input: { text: 'x', ...input } });
const rows: Record<string, Row> = {
  'Query.version': { query: '{ version }', outcomes: everybody },
  'Query.viewer': { query: '{ viewer { network { id } } }', outcomes: known },
  'Query.agents': { query: '{ agents { edges { node { id } } } }', outcomes: known },
  'Query.contexts': { query: '{ contexts { edges { node { id } } } }', outcomes: known },
  'Query.tasks': { query: '{ tasks { edges { node { id } } } }', outcomes: known },
  'Query.agent': {
    query: 'query($name: String!) { agent(name: $name) { id } }',
    variables: async ({ agent }) => ({ name: agent.name }),
    outcomes: known,
  },
  'Query.context': {
    query: 'query($contextId: ID!) { context(id: $contextId) { id } }',
    variables: ({ task }, who) => task(who),
    outcomes: whoMaySee('null'),
  },
  'Query.task': {
    query: 'query($id: ID!) { task(id: $id) { id } }',
    variables: ({ task }, who) => task(who),
    outcomes: whoMaySee('null'),
  },
  'Subscription.taskEvents': {
    query: 'subscription($id: ID!) { taskEvents(taskId: $id) { seq } }',
    variables: ({ task }, who) => task(who),
    outcomes: whoMaySee('NOT_FOUND'),
  },
  'Mutation.sendMessage': {
    query: 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }',
    variables: async ({ agent }) => text({ agent: agent.name }),
    outcomes: { ...movers, otherMember: 'yes' },
  },
  'Mutation.cancelTask': {
    query: 'mutation($id: ID!) { cancelTask(id: $id) { task { id } } }',
    variables: ({ task }, who) => task(who),
    outcomes: { ...movers, otherAgent: 'NOT_FOUND' },
  },
  'Mutation.retryTask': {
    query: 'mutation($id: ID!) { retryTask(id: $id) { id } }',
    variables: ({ failed }, who) => failed(who),
    outcomes: movers,
  },
  'Mutation.ackTask': {
    query: 'mutation($id: ID!) { ackTask(id: $id, delivery: 1) { id } }',
    variables: ({ task }, who) => task(who),
    outcomes: executor,
  },
  'Mutation.reportStatus': {
    query: 'mutation($input: ReportStatusInput!) { reportStatus(input: $input) { id } }',
    variables: async ({ taken }, who) => text({ taskId: (await taken(who)).id, delivery: 1, state: 'WORKING' }),
    outcomes: executor,
  },
  'Mutation.appendArtifact': {
    query: 'mutation($input: AppendArtifactInput!) { appendArtifact(input: $input) { id } }',
    variables: async ({ taken }, who) => text({ taskId: (await taken(who)).id, delivery: 1, artifactId: 'a' }),
    outcomes: executor,
  },
  'Mutation.postMessage': {
    query: 'mutation($input: PostMessageInput!) { postMessage(input: $input) { id } }',
    variables: async ({ taken }, who) => text({ taskId: (await taken(who)).id }),
    outcomes: executor,
  },
  'Mutation.registerAgent': {
    query: 'mutation($name: String!) { registerAgent(input: { name: $name }) { agent { id } } }',
    variables: async () => ({ name: randomUUID() }),
    outcomes: admins,
  },
  'Mutation.createUser': {
    query: 'mutation { createUser(input: { name: "new" }) { id } }',
    outcomes: admins,
  },
  'Mutation.setUserStatus': {
    query: 'mutation($id: ID!) { setUserStatus(userId: $id, status: PENDING_APPROVAL) { id } }',
    variables: async () => ({ id: (await house.createUser()).id }),
    outcomes: admins,
  },
  'Mutation.createApiKey': {
    query: 'mutation($id: ID!) { createApiKey(input: { userId: $id, name: "new" }) { key } }',
    variables: async ({ people }) => ({ id: people.member.id }),
    outcomes: admins,
  },
  'Mutation.revokeApiKey': {
    query: 'mutation($id: ID!) { revokeApiKey(id: $id) }',
    variables: async () => {
      const { id } = await house.createUser();
      return (await house.query('select id from api_key where user_id = $1', [id])).rows[0];
    },
    outcomes: admins,
  },
  'Mutation.createNetwork': {
    query: 'mutation { createNetwork(name: "new") { network { id } } }',
    outcomes: { ...none, owner: 'yes' },
  },
};

test('every field of the schema has its row', () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots
    .filter((type): type is GraphQLObjectType => type != null)
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
  expect(Object.keys(rows).sort()).toEqual(fields.sort());
});

describe.each(doorNames)('through %s', (door) => {
  const ours = Object.entries(rows).filter(([name]) => door !== 'http' || !name.startsWith('Subscription'));
  test.each(ours)('%s', async (_, { query, variables, outcomes }) => {
    const found: Partial<Outcomes> = {};
    for (const who of Object.keys(outcomes) as Who[]) {
      const asked = { query, variables: (await variables?.(cast, who)) ?? {} };
      const answer = await doors[door](house, { ...asked, variables: named(asked) }, cast.keys[who]);
      const [value] = Object.values(answer.data ?? {});
      found[who] = codeIn(answer) ?? (value === null ? 'null' : 'yes');
    }
    expect(found).toEqual(outcomes);
  });
});

/** Only the variables that the document names. */
const named = ({ query, variables }: { query: string; variables: Record<string, unknown> }) =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => query.includes(`$${name}:`)));
