import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatedDocs } from '../scripts/generated-docs.ts';

test.each(Object.entries(generatedDocs()))('%s is what the code says (else: npm run docs)', (file, text) => {
  expect(readFileSync(file, 'utf8')).toBe(text);
});
