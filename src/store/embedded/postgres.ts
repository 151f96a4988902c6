import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../core/log.ts';
import { StartError } from '../../core/start-error.ts';
import { ensureCluster, removeUnfinished } from './cluster.ts';
import { prepareSite, type Site } from './data-directory.ts';
import { ensurePostmaster, type Postmaster, stopPostmaster } from './postmaster.ts';
import { tell } from './process.ts';

// The hub's own PostgreSQL: found or started, kept for this hub alone, started again when it dies, stopped at the end.

export type EmbeddedPostgres = { url: string; dataDir: string; stop(): Promise<void> };

type Options = {
  dataDir: string | undefined;
  env: Site['env'];
  log: Log;
  signal: AbortSignal;
  /** The data directory belongs to another hub now: this one cannot go on. */
  onLost: (error: Error) => void;
};

const database = 'baton';
const ownerLock = 0x6261746f; // "bato": the hub that holds it owns the data directory

export const startEmbeddedPostgres = async ({ log, onLost, signal, ...place }: Options): Promise<EmbeddedPostgres> => {
  const site = await prepareSite(place);
  await ensureCluster(site);
  signal.throwIfAborted();

  // A hub that ends at once, by whatever way, still asks its PostgreSQL to stop.
  let pid = 0;
  const sendHome = () => tell(pid, 'SIGINT');
  const onLaunch = (launched: number) => {
    pid = launched;
  };
  process.once('exit', sendHome);

  let postmaster: Postmaster;
  let owner: pg.Client;
  try {
    postmaster = await ensurePostmaster({ site, signal, onLaunch });
    owner = await takeOwnership(site, postmaster);
    pid = postmaster.pid;
    await removeUnfinished(site).catch((error) => log.warn({ err: error }, 'Could not remove an unfinished cluster'));
    await ensureDatabase(owner);
  } catch (error) {
    process.off('exit', sendHome);
    if (!(error instanceof InUseError)) await stopPostmaster(pid);
    throw error;
  }

  let stopped: Promise<void> | undefined;
  let reviving: Promise<void> | undefined;
  // The owner's connection ends when the server does: killed, crashed, or restarting after a crash of a backend.
  const watch = () =>
    owner.once('end', () => {
      if (!stopped) reviving = revive();
    });
  const revive = async (): Promise<void> => {
    log.warn({}, 'PostgreSQL went away; bringing it back');
    while (!stopped) {
      try {
        const { port } = postmaster.connection;
        postmaster = await ensurePostmaster({ site, port, signal: new AbortController().signal, onLaunch });
        owner = await takeOwnership(site, postmaster);
        pid = postmaster.pid;
        watch();
        return log.info({}, 'PostgreSQL is back');
      } catch (error) {
        if (error instanceof InUseError) return onLost(error);
        log.error({ err: error }, 'PostgreSQL does not come back yet; trying again');
        await sleep(1_000);
      }
    }
  };
  watch();

  const { user, password, host, port, options } = postmaster.connection;
  return {
    url: `postgres://${user}:${password}@${host}:${port}/${database}?sslmode=disable&options=${encodeURIComponent(options)}`,
    dataDir: site.dataDir,
    stop() {
      stopped ??= (async () => {
        await reviving;
        await owner.end().catch(() => undefined);
        await stopPostmaster(pid);
        process.off('exit', sendHome);
      })();
      return stopped;
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
