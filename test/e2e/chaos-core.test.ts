import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const chaos = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['--import=tsx', 'chaos/run.ts', 'core', ...args]).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );

// The short form of `npm run chaos -- core`: its checker reads only what the actors wrote down and what the tables say.

test('killed, paused and cut off writers and a crashed database lose nothing, double nothing and mix nothing up', {
  timeout: 150_000,
}, async () => {
  const { code, stdout } = await chaos('--seconds', '15', '--seed', '7');
  expect(stdout).toMatch(/violations +0/);
  expect(code).not.toBe(1);
});

test('the checker notices when the fence is missing', { timeout: 150_000 }, async () => {
  const { code, stdout } = await chaos('--seconds', '15', '--seed', '7', '--bug', 'no-fence');
  expect(stdout).toMatch(/^fence: \d+/m);
  expect(code).toBe(1);
});
