import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/run.ts',
    setupFiles: 'test/support/nothing-left-open.ts',
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    alias: { graphql: 'graphql/index.js' }, // else vitest loads it twice, once as ESM and once as CommonJS
  },
});
