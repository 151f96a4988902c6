import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { openDatabase } from '../src/store/database.ts';
import { startEmbeddedPostgres } from '../src/store/embedded/postgres.ts';
import { migrate } from '../src/store/migrations.ts';
import { missingMigration } from './schema-engine.ts';

// npm run db:migration -- <name>: writes the next migration from what prisma/schema.prisma says and the migrations do not.

const name = process.argv[2];
if (!name || !/^[a-z0-9_]+$/.test(name)) {
  console.error('Usage: npm run db:migration -- <name>   (small letters, digits and underscores)');
  process.exit(1);
}

const directory = 'prisma/migrations';
const log = createLog('warn');
const dataDir = await mkdtemp(join(tmpdir(), 'baton-migration-'));
const postgres = await startEmbeddedPostgres({
  dataDir,
  env: childEnvironment(),
  log,
  signal: new AbortController().signal,
  onLost: (error) => log.error({ err: error }, 'Lost'),
});
try {
  const database = openDatabase(postgres.url, log);
  await migrate(database.pool, { directory, log, signal: new AbortController().signal });
  await database.close();
  const sql = await missingMigration(postgres.url);
  if (sql) {
    const folder = join(directory, `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`);
    await mkdir(folder);
    await writeFile(join(folder, 'migration.sql'), sql);
    console.log(`Wrote ${folder}/migration.sql. Add what Prisma cannot say (CHECKs, triggers), then run \`npm test\`.`);
  } else console.log('Nothing to write: the migrations already make what prisma/schema.prisma describes.');
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
