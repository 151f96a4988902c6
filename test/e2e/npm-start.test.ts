import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { until } from '../support/until.ts';

// The README's command, between a person or a process manager and the hub.

const npmStart = async () => {
  const dataDir = temporaryDirectory();
  const child = spawn('npm', ['start'], {
    env: { ...process.env, TEST_RUN_ID: inject('runId'), PORT: '0', BATON_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, as under a terminal
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const closed = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await closed;
  });
  await until(() => stdout.includes('is ready'), 'the hub to be ready');
  return {
    pid: child.pid ?? 0,
    closed,
    stderr: () => stderr,
    isStopped: () => !existsSync(join(dataDir, 'postgres/postmaster.pid')),
  };
};

test('a SIGTERM for npm stops the hub and its PostgreSQL cleanly', async () => {
  const { pid, closed, isStopped } = await npmStart();
  process.kill(pid, 'SIGTERM');
  await closed;
  expect(isStopped()).toBe(true);
});

test('one Ctrl-C, which reaches the hub twice, is one signal: a clean stop', async () => {
  const { pid, closed, stderr, isStopped } = await npmStart();
  process.kill(-pid, 'SIGINT');
  expect(await closed).toBe(0);
  expect(stderr().match(/Stopping/g)).toHaveLength(1);
  expect(isStopped()).toBe(true);
});
