import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

// Who may import whom: the table of docs/architecture.md. `generated` is what Prisma prints.

const rooms: Record<string, { rooms: string[]; never?: RegExp }> = {
  core: { rooms: [], never: /^(graphql|ws|pg|@?prisma|@pothos)/ },
  store: { rooms: ['core', 'generated'], never: /^(graphql|ws$|@pothos)/ },
  hub: { rooms: ['core'], never: /^(graphql|@pothos|@?prisma|pg$)/ },
  a2a: { rooms: ['core'], never: /^(graphql|@pothos|@?prisma|pg$)/ },
  bus: { rooms: ['core'], never: /^(graphql|@pothos|@?prisma)/ },
  resolvers: { rooms: ['core', 'context'], never: /^(@pothos|@?prisma|pg$)/ },
  schema: { rooms: ['resolvers', 'core', 'context'], never: /^(pg$|ws$|@?prisma)/ },
  agent: { rooms: [] },
  auth: { rooms: ['core'], never: /^(graphql|ws$|@pothos|@?prisma|pg$)/ },
  graphql: { rooms: ['auth', 'context', 'core'], never: /^(@?prisma|pg$)/ },
  generated: { rooms: [] },
  cli: { rooms: ['core', 'config', 'server', 'agent'] },
  config: { rooms: ['core'] },
  context: { rooms: ['core'] },
  http: { rooms: ['core'] },
  log: { rooms: ['core'] },
  rounds: { rooms: ['core'] },
  rooms: { rooms: ['auth', 'bus', 'config', 'context', 'core', 'graphql', 'hub', 'rounds', 'schema', 'store'] },
  server: { rooms: ['agent', 'config', 'core', 'http', 'rooms', 'store'] },
  welcome: { rooms: ['server'] },
  main: { rooms: ['cli', 'config', 'core', 'log', 'server', 'welcome'] },
};

const roomOf = (file: string) => relative('src', file).split(/[/.]/)[0] ?? '';
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => join('src', name))
  .filter((file) => file.endsWith('.ts') && roomOf(file) !== 'generated')
  .map((file) => ({ file, room: roomOf(file), text: readFileSync(file, 'utf8') }));
const importsOf = (text: string) =>
  [
    ...text.matchAll(/^(?:import|export)\s(type\s)?[^;]*?(?:from\s)?'([^']+)'/gm),
    ...text.matchAll(/()import\('([^']+)'\)/g),
  ].map(([, type, target = '']) => ({ isType: Boolean(type), target }));

test.each(files)('$file imports only what its room may', ({ file, room, text }) => {
  const rule = rooms[room];
  if (!rule) throw new Error(`${file} stands in no room of the house`);
  for (const { isType, target } of importsOf(text)) {
    if (!target.startsWith('.')) expect(target).not.toMatch(rule.never ?? /^$/);
    else if (target !== '../package.json') {
      const other = roomOf(join(dirname(file), target));
      const mayRead = room === 'core' && isType ? ['generated'] : [];
      expect([room, ...rule.rooms, ...mayRead]).toContain(other);
    }
  }
});

test.each(files)('$file leaves the environment to config and, in core, the clock to others', ({ room, text }) => {
  if (room !== 'config') expect(text).not.toMatch(/process\.env|node:process/);
  if (room === 'core') expect(text).not.toMatch(/Date\.now|new Date\(\)|performance\.now|setTimeout|setInterval/);
});

test('docs/architecture.md tells who may import whom as it is enforced here', () => {
  const [, table = ''] = readFileSync('docs/architecture.md', 'utf8').split('\n## Who may import whom\n');
  const told = [...(table.split('\n## ')[0]?.matchAll(/^\| (.*?) \| (.*?) \|/gm) ?? [])].slice(2);
  const expected = told.flatMap(([, names = '', others = '']) =>
    names.split(', ').map((name) => [name, others.startsWith('nothing of ours') ? [] : others.split(', ').sort()]),
  );
  const enforced = Object.entries(rooms).map(([name, { rooms: others }]) => [name, [...others].sort()]);
  expect(Object.fromEntries(expected)).toEqual(Object.fromEntries(enforced));
});
