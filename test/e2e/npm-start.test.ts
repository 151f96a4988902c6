import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { startHub } from '../support/hub.ts';

// The README's command, between a person or a process manager and the hub.

const npmStart = async () => {
  const dataDir = temporaryDirectory();
  const npm = await startHub({ command: ['npm', 'start'], env: { BATON_DATA_DIR: dataDir }, detached: true });
  return { npm, isStopped: () => !existsSync(join(dataDir, 'postgres/postmaster.pid')) };
};

test('a SIGTERM for npm stops the hub and its PostgreSQL cleanly', async () => {
  const { npm, isStopped } = await npmStart();
  npm.kill('SIGTERM');
  await npm.ended;
  expect(isStopped()).toBe(true);
});

test('one Ctrl-C, which reaches the hub twice, is one signal: a clean stop', async () => {
  const { npm, isStopped } = await npmStart();
  process.kill(-(npm.process.pid ?? 0), 'SIGINT');
  expect((await npm.ended).code).toBe(0);
  expect(npm.stderr().match(/Stopping/g)).toHaveLength(1);
  expect(isStopped()).toBe(true);
});
