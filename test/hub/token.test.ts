import { expect, test } from 'vitest';
import { openSocket } from '../support/agent-client.ts';
import { useHouse } from '../support/house.ts';

const house = useHouse();

test('an agent whose token was replaced is sent away, and what it held waits for it to come back', async () => {
  const agent = await house.registerAgent();
  const socket = await openSocket(`${house.url.replace(/^http/, 'ws')}/hub`, agent.token);
  await socket.request('agent.register', { agent_name: agent.name });
  const { id } = await house.send({ agent: agent.name, text: 'work' });
  const { id: request } = await socket.nextOf('task.execute');
  socket.answer(request);
  await socket.settled();
  await house.query(`update agent set token_hash = '\\x00' where id = $1`, [agent.id]);
  expect(await socket.closed).toMatchObject({ code: 4403 });
  const { rows } = await house.query('select holder, delivery_state from task where id = $1', [id]);
  expect(rows).toEqual([{ holder: null, delivery_state: 'ACKED' }]);
});

test('a task reaches a connected agent in the commit that made it', async () => {
  const agent = await house.registerAgent();
  const socket = await openSocket(`${house.url.replace(/^http/, 'ws')}/ws/agents?token=${agent.token}`);
  await socket.request('agent.register', { agent_name: agent.name });
  expect(
    (await house.get('query($name: String!) { agent(name: $name) { connected } }', { name: agent.name })).connected,
  ).toBe(true);
  const task = await house.send({ agent: agent.name, text: 'work', metadata: { chat_id: 'c1' } });
  expect(task.delivery).toEqual({ number: 1, state: 'DELIVERED' });
  const { params } = await socket.nextOf('task.execute');
  expect(params).toMatchObject({
    id: task.id,
    task_id: task.id,
    delivery: 1,
    context_id: task.context.id,
    metadata: { chat_id: 'c1', requester: 'owner' },
  });
});

test('a canceled agent that answers is confirmed in the answer of cancelTask', async () => {
  const agent = await house.registerAgent();
  const socket = await openSocket(`${house.url.replace(/^http/, 'ws')}/hub`, agent.token);
  await socket.request('agent.register', { agent_name: agent.name });
  const { id } = await house.send({ agent: agent.name, text: 'work' });
  await socket.nextOf('task.execute');
  const canceling = house.get(
    'mutation($id: ID!) { cancelTask(id: $id, reason: "enough") { confirmed outstanding } }',
    { id },
  );
  const { id: request, params } = await socket.nextOf('task.cancel');
  expect(params).toMatchObject({ task_id: id, delivery: 1, text: 'enough' });
  socket.answer(request);
  expect(await canceling).toEqual({ confirmed: [id], outstanding: [] });
});
