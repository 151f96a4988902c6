import { defineConfig } from 'prisma/config';

// Every Prisma command first fetches an engine from a host that is not the npm registry. `generate` never runs it,
// so any existing file will do.
process.env.CHECKPOINT_DISABLE ??= '1'; // nor asks anybody whether there is a newer one
if (process.argv.includes('generate')) process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: 'prisma/schema.prisma', migrations: { path: 'prisma/migrations' } });
