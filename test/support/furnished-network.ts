import { randomUUID } from 'node:crypto';
import type { House } from './doors.ts';
import { insertChild } from './task-tree.ts';

// A network with something of everything, all of it marked, so that it is recognised wherever it turns up.

export const furnish = async (house: House, { key, mark }: { key: string; mark: string }) => {
  let count = 0;
  const canary = (what: string): string => {
    count += 1;
    return `canary${mark}-${what}-${count}`;
  };
  const canaries: string[] = [];
  const plant = (what: string): string => {
    const planted = canary(what);
    canaries.push(planted);
    return planted;
  };
  const get = (query: string, variables: Record<string, unknown>, by = key) => house.get(query, variables, by);
  const register = async (skills: object[]) => {
    const input = {
      name: plant('agent'),
      description: plant('description'),
      url: `ws-agent://${plant('url')}`,
      card: { note: plant('card') },
      skills,
    };
    const query = 'mutation($input: RegisterAgentInput!) { registerAgent(input: $input) { token agent { id name } } }';
    const { token, agent } = await get(query, { input });
    return { ...agent, token } as { id: string; name: string; token: string };
  };
  const skill = {
    id: plant('skill'),
    name: plant('skill-name'),
    description: plant('skill-description'),
    tags: [plant('tag')],
    examples: [plant('example')],
    price: '0.5',
  };
  const [agent, helper] = [await register([skill]), await register([])];

  const externalId = canary('external'); // shown to nobody
  const name = plant('user');
  const user = await get('mutation($input: CreateUserInput!) { createUser(input: $input) { id } }', {
    input: { name, externalId },
  });
  const made = await get(
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { key apiKey { id prefix } } }',
    { input: { userId: user.id, name: canary('key') } },
  );
  await house.query('update account set balance = 100 where user_id = $1', [user.id]);

  const contextId = plant('context');
  const everyPart = () => [
    { text: plant('text') },
    { data: { note: plant('data') }, metadata: { note: plant('part-metadata') } },
    { url: `https://${plant('part-url')}.example`, filename: plant('file'), mediaType: plant('media') },
  ];
  const messageId = randomUUID();
  const send = async (input: object): Promise<string> => {
    const query = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }';
    return (
      await get(query, { input: { agent: agent.name, metadata: { note: plant('metadata') }, ...input } }, made.key)
    ).id;
  };
  const report = (taskId: string, input: object) =>
    get(
      'mutation($input: ReportStatusInput!) { reportStatus(input: $input) { id } }',
      { input: { taskId, delivery: 1, ...input } },
      agent.token,
    );
  const take = (id: string) => get('mutation($id: ID!) { ackTask(id: $id, delivery: 1) { id } }', { id }, agent.token);

  const done = await send({ contextId, messageId, parts: everyPart() });
  await house.query('update context set title = $2 where id = $1', [contextId, plant('title')]);
  await take(done);
  await get(
    'mutation($input: AppendArtifactInput!) { appendArtifact(input: $input) { id } }',
    {
      input: {
        taskId: done,
        delivery: 1,
        artifactId: plant('artifact'),
        name: plant('artifact-name'),
        description: plant('artifact-description'),
        parts: everyPart(),
      },
    },
    agent.token,
  );
  await get(
    'mutation($input: PostMessageInput!) { postMessage(input: $input) { id } }',
    { input: { taskId: done, text: plant('said') } },
    agent.token,
  );
  await report(done, { state: 'COMPLETED', text: plant('result'), usage: { note: plant('usage') } });
  const asking = await send({ text: plant('request') });
  await take(asking);
  await report(asking, { state: 'INPUT_REQUIRED', text: plant('question') });
  const failed = await send({ text: plant('request') });
  await take(failed);
  await report(failed, { state: 'FAILED', reason: `CANARY${mark.toUpperCase()}`, text: plant('failure') });
  const working = await send({ text: plant('request') });
  await take(working);
  const child = await insertChild(house, working, { executor: helper, requester: agent });
  const waiting = await send({ text: plant('request') });

  const { network } = await get('{ viewer { network { id name } } }', {});
  const cursorOf = async (list: string): Promise<string> =>
    (await get(`{ ${list}(first: 1) { pageInfo { endCursor } } }`, {})).pageInfo.endCursor;
  const cursors = {
    tasks: await cursorOf('tasks'),
    contexts: await cursorOf('contexts'),
    agents: await cursorOf('agents'),
  };
  return {
    mark: `canary${mark}`,
    canaries,
    key,
    network: network as { id: string; name: string },
    agent,
    helper,
    skill: skill.id,
    user: { id: user.id as string, name, externalId, key: made.key as string },
    apiKey: made.apiKey as { id: string; prefix: string },
    contextId,
    messageId,
    tasks: { done, asking, failed, working, child: child.id, waiting },
    cursors,
  };
};

export type Furnished = Awaited<ReturnType<typeof furnish>>;
