import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const chaos = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['--import=tsx', 'chaos/run.ts', 'short', ...args]).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );

/** How often something happened, as the run's table says. */
const countOf = (stdout: string, what: string): number =>
  Number(new RegExp(`^${what} +(\\d+)`, 'm').exec(stdout)?.[1] ?? Number.NaN);

// The short form of `npm run chaos -- short`. On a busy machine less happens than its floors ask for: here a little is enough.

test('killed hubs, cut connections and a crashed database break no promise to agents and clients', {
  timeout: 300_000,
}, async () => {
  const { code, stdout } = await chaos('--seconds', '40', '--seed', '7');
  expect(stdout).toMatch(/violations +0/);
  expect([0, 2]).toContain(code);
  expect(countOf(stdout, 'kill -9 of a server')).toBeGreaterThan(0);
  expect(countOf(stdout, 'tasks')).toBeGreaterThan(20);
  expect(countOf(stdout, 'streams resumed')).toBeGreaterThan(10);
});

test('the checker notices when a stream forgets whose task it is', { timeout: 240_000 }, async () => {
  const { code, stdout } = await chaos('--seconds', '15', '--seed', '7', '--calm', '--bug', 'tenant-forgotten');
  expect(stdout).toMatch(/^tenant: \d+/m);
  expect(code).toBe(1);
});
