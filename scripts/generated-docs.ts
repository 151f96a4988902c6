import { lexicographicSortSchema, printSchema } from 'graphql';
import { settings } from '../src/config.ts';
import { schema } from '../src/schema/index.ts';

// Files in git that are made from the code. `npm run docs` writes them; a test fails when one is stale.

export const generatedDocs = (): Record<string, string> => ({
  'schema.graphql': `${printSchema(lexicographicSortSchema(schema))}\n`,
  'docs/settings.md': settingsPage(),
});

const settingsPage = (): string =>
  [
    '# Settings',
    '',
    'Set in the environment. A bad value stops the start with a line that names it. This page is made from `src/config.ts`.',
    '',
    '| setting | default | meaning |',
    '| --- | --- | --- |',
    ...Object.entries(settings).map(
      ([name, { default: value, meaning }]) => `| \`${name}\` | ${value === null ? '' : `\`${value}\``} | ${meaning} |`,
    ),
    '',
  ].join('\n');
