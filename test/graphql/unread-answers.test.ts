import { getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { openGraphqlSocket } from '../support/graphql-socket.ts';
import { useHouse } from '../support/house.ts';
import { until } from '../support/until.ts';

const house = useHouse();

test('a client that asks and asks and reads nothing is cut off, and others are served', async () => {
  const socket = await openGraphqlSocket(house.url, null);
  const query = getIntrospectionQuery();
  const size = JSON.stringify(await socket.ask({ query })).length;
  socket.pause();
  const enough = Math.ceil((48 * 1_048_576) / size);
  for (let n = 0; n < enough; n++)
    socket.sendText(JSON.stringify({ id: `flood-${n}`, type: 'subscribe', payload: { query } }));
  const isCut = () => {
    if (socket.isOpen()) socket.sendText('{"type":"ping"}'); // who does not read hears of it when it speaks
    return !socket.isOpen();
  };
  await until(isCut, 'the hub to cut it off');
  expect(await house.ask('{ version }')).toMatchObject({ data: { version: expect.any(String) } });
});

test('more than 1,000 operations at once on one socket are refused', async () => {
  const agent = await house.registerAgent();
  const { id } = await house.send({ agent: agent.name, text: 'wait' });
  const socket = await openGraphqlSocket(house.url, house.ownerKey);
  const query = `subscription { taskEvents(taskId: "${id}", after: 3) { seq } }`;
  for (let n = 0; n < 1_001; n++)
    socket.sendText(JSON.stringify({ id: `open-${n}`, type: 'subscribe', payload: { query } }));
  expect((await socket.ask({ query: '{ version }' })).errors?.[0]?.extensions.code).toBe('RATE_LIMITED');
  await socket.close();
});
