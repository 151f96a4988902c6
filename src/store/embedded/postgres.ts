import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../core/log.ts';
import { StartError } from '../../core/start-error.ts';
import { ensureCluster } from './cluster.ts';
import { prepareSite, type Site } from './data-directory.ts';
import { dismissPostmaster, ensurePostmaster, type Postmaster, stopPostmaster } from './postmaster.ts';

// The hub's own PostgreSQL: found or started, kept for this hub alone, started again when it dies, stopped at the end.

export type EmbeddedPostgres = {
  url: string;
  dataDir: string;
  stop(): Promise<void>;
  /** For a process that ends at once: asks PostgreSQL to stop and does not wait. */
  dismiss(): void;
};

type Options = {
  dataDir: string | undefined;
  log: Log /** Ownership is lost for good. */;
  onLost: (error: Error) => void;
};

const database = 'baton';
const ownerLock = 0x6261746f; // "bato": the hub that holds it owns the data directory
const stopPatienceMs = 10_000;

export const startEmbeddedPostgres = async ({ dataDir, log, onLost }: Options): Promise<EmbeddedPostgres> => {
  const site = await prepareSite(dataDir);
  await ensureCluster(site);
  let postmaster = await ensurePostmaster(site);
  let owner = await takeOwnership(site, postmaster);
  let stopping = false;
  await removeLeftovers(site);
  await ensureDatabase(owner);

  // The owner's connection ends when the server does: killed, crashed, or restarting after a crash of a backend.
  const watch = () => owner.once('end', () => void (stopping || revive()));
  const revive = async (): Promise<void> => {
    log.warn({}, 'PostgreSQL went away; bringing it back');
    while (!stopping) {
      try {
        postmaster = await ensurePostmaster(site, postmaster.connection.port);
        owner = await takeOwnership(site, postmaster);
        watch();
        log.info({}, 'PostgreSQL is back');
        return;
      } catch (error) {
        if (error instanceof InUseError) return onLost(error);
        log.error({ err: error }, 'PostgreSQL does not come back yet; trying again');
        await sleep(1_000);
      }
    }
  };
  watch();

  const { user, password, host, port } = postmaster.connection;
  return {
    url: `postgres://${user}:${password}@${host}:${port}/${database}`,
    dataDir: site.dataDir,
    async stop() {
      if (stopping) return;
      stopping = true;
      await owner.end().catch(() => undefined);
      await stopPostmaster(postmaster, stopPatienceMs);
    },
    dismiss() {
      stopping = true;
      dismissPostmaster(postmaster);
    },
  };
};

class InUseError extends StartError {}

/** A session lock in the server itself: it ends with the hub that holds it, however that hub ends. */
const takeOwnership = async (site: Site, { connection }: Postmaster): Promise<pg.Client> => {
  const owner = new pg.Client({ ...connection, database: 'postgres', application_name: `hub ${process.pid}` });
  owner.on('error', () => undefined); // 'end' follows
  await owner.connect();
  try {
    // A hub killed a moment ago may not be noticed yet.
    for (let waitedMs = 0; waitedMs <= 2_000; waitedMs += 100) {
      const { rows } = await owner.query('select pg_try_advisory_lock($1) as taken', [ownerLock]);
      if (rows[0].taken) return owner;
      await sleep(100);
    }
    const { rows } = await owner.query(
      'select application_name from pg_stat_activity join pg_locks using (pid) where locktype = $1 and objid = $2 and granted',
      ['advisory', ownerLock],
    );
    throw new InUseError(
      `The data directory ${site.dataDir} is in use by another hub (${rows[0]?.application_name ?? 'ending now'}).`,
      'Stop that hub first, or set BATON_DATA_DIR to another directory.',
    );
  } catch (error) {
    await owner.end().catch(() => undefined);
    throw error;
  }
};

const ensureDatabase = async (owner: pg.Client): Promise<void> => {
  const { rowCount } = await owner.query('select from pg_database where datname = $1', [database]);
  if (rowCount === 0) await owner.query(`create database ${database}`);
};

/** What hubs that died while making a cluster have left. Only the owner may clean up. */
const removeLeftovers = async ({ dataDir }: Site): Promise<void> => {
  for (const name of await readdir(dataDir))
    if (name.startsWith('new-')) await rm(join(dataDir, name), { recursive: true, force: true });
};
