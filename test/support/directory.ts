import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

/** A directory that goes with the test. */
export const temporaryDirectory = (mode = 0o755): string => {
  const directory = mkdtempSync(join(tmpdir(), `baton-test-${inject('runId')}-`));
  chmodSync(directory, mode);
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
