import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { useHouse } from '../support/house.ts';

// GraphQL over HTTP, as the working group's own audits understand it. None is left out.

const house = useHouse();
const audits = serverAudits({ url: () => `${house.url}/graphql`, fetchFn: fetch });

test('all the audits there are run', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits)('$id $name', async (audit) => {
  const result = await audit.fn();
  expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
});
