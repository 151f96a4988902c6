import pg from 'pg';
import { expect, test } from 'vitest';
import { useHouse } from '../support/house.ts';
import { recordStatements } from '../support/statements.ts';
import { subscribe, transports } from '../support/subscription.ts';
import { until } from '../support/until.ts';

const house = useHouse();

/** Nobody can read a task until it is called. */
const lockTasks = async () => {
  const client = new pg.Client(house.databaseUrl);
  await client.connect();
  await client.query('begin; lock table task in access exclusive mode');
  return () => client.end();
};
const waitingForTasks = async () =>
  (
    await house.query(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%from task t where t.id%'",
    )
  ).rows[0].count as number;

test.each(transports)(
  'over %s who vanishes while the task is still looked up leaves nothing behind',
  async (transport) => {
    const agent = await house.registerAgent();
    const { id } = await house.send({ agent: agent.name, text: 'work' });
    const { key, id: userId } = await house.createUser({ role: 'VIEWER' });
    const { rows } = await house.query('select id from api_key where user_id = $1', [userId]);
    const stays = subscribe(transport, { url: house.url, key: house.ownerKey, taskId: id });
    await stays.first(3);
    const sent = recordStatements();
    const unlock = await lockTasks();
    const early = [1, 2, 3].map(() => subscribe(transport, { url: house.url, key, taskId: id }));
    await until(async () => (await waitingForTasks()) >= 3, 'them to be looked up');
    for (const each of early) each.vanish();
    for (const _ of early) await fetch(`${house.url}/livez`); // the hub has read on
    await unlock();

    // The hub looks every second whether the keys of those who are there still hold.
    const looks = () => sent.filter(({ text }) => text.includes('from api_key k')).map(({ values }) => values[0]);
    const before = looks().length;
    await until(() => looks().length > before + 1, 'the keys to be looked at twice');
    expect(looks().at(-1)).not.toContain(rows[0].id);
    await stays.stop();
  },
);
