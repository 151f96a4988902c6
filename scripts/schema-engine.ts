import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { readMigrations } from '../src/store/migrations.ts';

// Prisma's own migration engine as WebAssembly: the same answers as `prisma migrate`, without a binary to download.

const noFilters = { externalTables: [], externalEnums: [] };

/** The SQL that leads from a database to prisma/schema.prisma; undefined when the schema describes the database. */
export const missingMigration = async (url: string): Promise<string | undefined> => {
  const schema = await readSchema();
  const { exitCode, stdout } = await ask(url, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', configDir: '.', ...schema },
      to: { tag: 'schemaDatamodel', ...schema },
      script: true,
      exitCode: true,
      filters: noFilters,
    }),
  );
  return exitCode === 0 ? undefined : (stdout ?? undefined);
};

/** What `prisma migrate deploy` would still apply to this database. */
export const applyMissingMigrations = async (url: string, directory: string): Promise<string[]> => {
  const migrationsList = await listMigrations(directory);
  const { appliedMigrationNames } = await ask(url, (engine) =>
    engine.applyMigrations({ migrationsList, filters: noFilters }),
  );
  return appliedMigrationNames;
};

const ask = async <T>(url: string, question: (engine: SchemaEngine) => Promise<T>): Promise<T> => {
  await loadOnce();
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  try {
    const { files } = await readSchema();
    const engine = await engineModule.SchemaEngine.new(
      { datamodels: files.map(({ path, content }) => [path, content]) },
      () => undefined,
      bindMigrationAwareSqlAdapterFactory(catalogAdapter(pool)),
    );
    return await question(engine);
  } finally {
    await pool.end();
  }
};

/** The adapter refuses two types of PostgreSQL's catalog: int2vector is shown to it as int2[], "char" as a character. */
const catalogAdapter = (pool: pg.Pool): PrismaPg => {
  const characters = new WeakMap<object, number[]>(); // the columns of type "char" of a result, by its rows
  const query = pool.query.bind(pool) as (config: object) => Promise<pg.QueryArrayResult<unknown[]>>;
  const queryCatalog = async (config: object) => {
    const result = await query(config);
    const columnsOf = (oid: number) =>
      result.fields.flatMap((field, index) => (field.dataTypeID === oid ? [index] : []));
    const retype = (index: number, oid: number) => Object.assign(result.fields[index] ?? {}, { dataTypeID: oid });
    characters.set(result.rows, columnsOf(charOid));
    for (const index of columnsOf(charOid)) retype(index, pg.types.builtins.TEXT);
    for (const index of columnsOf(int2vectorOid)) {
      retype(index, int2ArrayOid);
      for (const row of result.rows) row[index] = String(row[index]).split(' ').map(Number);
    }
    return result;
  };
  const factory = new PrismaPg(Object.assign(pool, { query: queryCatalog }));
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (question) => {
      const set = await queryRaw(question);
      for (const index of characters.get(set.rows) ?? []) set.columnTypes[index] = ColumnTypeEnum.Character;
      return set;
    };
    return adapter;
  };
  return factory;
};

const charOid = 18;
const int2vectorOid = 22;
const int2ArrayOid = 1005;

const readSchema = async () => {
  const path = 'prisma/schema.prisma';
  return { files: [{ path, content: await readFile(path, 'utf8') }] };
};

const listMigrations = async (baseDir: string): Promise<MigrationList> => ({
  baseDir,
  lockfile: { path: 'migration_lock.toml', content: await readFile(join(baseDir, 'migration_lock.toml'), 'utf8') },
  shadowDbInitScript: '',
  migrationDirectories: (await readMigrations(baseDir)).map(({ name, sql }) => ({
    path: name,
    migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
  })),
});

let loaded: Promise<void> | undefined;
const loadOnce = (): Promise<void> => {
  loaded ??= load();
  return loaded;
};

const load = async (): Promise<void> => {
  const folder = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  const bytes = await readFile(join(folder, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': engineModule });
  engineModule.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
};
