import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editableCheckout } from '../support/checkout.ts';
import { startHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

// The commands of CONTRIBUTING.md that change something.

test('npm run db:migration writes what the schema says and the migrations do not, once', () => {
  const cwd = editableCheckout();
  const run = () =>
    execFileSync('npm', ['run', '--silent', 'db:migration', '--', 'nicknames'], { cwd, encoding: 'utf8' });
  expect(run()).toContain('Nothing to write');
  const schema = join(cwd, 'prisma/schema.prisma');
  appendFileSync(schema, '\nmodel Nickname {\n  name String @id\n}\n');
  expect(run()).toMatch(/^Wrote prisma\/migrations\/\d{14}_nicknames\/migration.sql/);
  const written = readdirSync(join(cwd, 'prisma/migrations')).find((name) => name.endsWith('_nicknames')) ?? '';
  expect(readFileSync(join(cwd, 'prisma/migrations', written, 'migration.sql'), 'utf8')).toContain(
    'CREATE TABLE "Nickname"',
  );
  expect(run()).toContain('Nothing to write');
});

test('npm run dev restarts the hub when a file changes', async () => {
  const cwd = editableCheckout();
  const hub = await startHub({ command: ['npm', 'run', 'dev'], cwd });
  appendFileSync(join(cwd, 'src/resolvers/hub.ts'), '\n');
  await until(() => hub.stdout().split('is ready').length === 3, 'the hub to start again');
});
