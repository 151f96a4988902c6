import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Bundle, buildHub, bundle, type Child, expectOf, startChild } from './child.ts';
import { type BenchDatabase, startDatabase } from './database.ts';
import { layGround } from './ground.ts';
import { registerAgents, startHub } from './hub.ts';
import type * as load from './load/told.ts';
import type * as peers from './peers/told.ts';
import { treeTimeUs } from './process-time.ts';
import type { Asked } from './run.ts';

// Where servers are measured: each in a fresh process on a database of its own, with a process of its own that makes its load,
// idle while the others run.

export type ServerName = 'ours' | peers.PeerName;

export type Played = {
  measured: load.Measured;
  /** CPU from when all was ready until the clock stopped; undefined where /proc does not tell. */
  serverUs: number | undefined;
  postgresUs: number | undefined;
  written: load.Written;
  problems: string[];
};

export type Actor = { query: BenchDatabase['query']; play(plan: load.Plan): Promise<Played> };

export type Stage = {
  /** What durability rests on; it was checked. */
  durability: string;
  settings: BenchDatabase['settings'];
  database: BenchDatabase;
  bundle(entry: string): Promise<string>;
  open(name: ServerName, size: Size): Promise<Actor>;
  /** Plans made on empty tables are made again, as on a server that has run for a while. */
  settle(): Promise<void>;
  stop(): Promise<void>;
};

type Size = { agents: number; contexts: number; nodeOptions?: string[] };

export const openStage = async ({ say, signal }: Asked): Promise<Stage> => {
  const database = await startDatabase(signal);
  const closing: (() => Promise<void>)[] = [];
  const made: BenchDatabase['query'][] = [];
  const bundles = new Map<string, Promise<Bundle>>();
  const stop = async (): Promise<void> => {
    for (const close of closing.toReversed()) await close();
    for (const each of bundles.values()) await (await each).remove();
    await database.stop();
  };
  const bundled = async (entry: string): Promise<string> => {
    const found = bundles.get(entry) ?? bundle(join(import.meta.dirname, entry));
    bundles.set(entry, found);
    return (await found).file;
  };
  const start = <Told extends object, Heard>(file: string): Child<Told, Heard> => {
    const child = startChild<Told, Heard>(file);
    closing.push(child.stop);
    return child;
  };

  const openServer = async (name: ServerName, { agents, contexts, nodeOptions }: Size) => {
    const isA2a = name.startsWith('a2a');
    const own = await database.another(name.replaceAll('-', '_'), !isA2a);
    made.push(own.query);
    if (name === 'ours') {
      const hub = await startHub(await buildHub(), own.url, nodeOptions);
      closing.push(hub.stop);
      const names = Array.from({ length: contexts }, (_, index) => `bench-${index}`);
      const target: load.Target = { ...hub, agents: await registerAgents(hub, agents), contexts: names };
      return { pid: hub.pid, query: own.query, target };
    }
    if (isA2a) await promisify(execFile)('node_modules/.bin/a2a-db', ['upgrade', '--store', 'tasks', '--url', own.url]);
    const ground = isA2a ? { network: '', user: '', agent: '', contexts: [] } : await layGround(own, contexts);
    const peer = start<peers.Told, peers.Heard>(await bundled('peers/main.ts'));
    peer.tell({ kind: 'open', peer: name, database: own.url, ground });
    const { url } = await expectOf(peer, 'opened');
    const named = Array.from({ length: agents }, (_, index) => ({ name: `bench-${index}`, token: 'none' }));
    const target: load.Target = { url, key: 'none', agents: named, contexts: ground.contexts, isA2a };
    return { pid: peer.pid, query: own.query, target };
  };

  const settle = async (): Promise<void> => {
    await Promise.all(made.map((query) => query('vacuum analyze')));
  };

  const open: Stage['open'] = async (name, size) => {
    signal.throwIfAborted();
    const { pid, query, target } = await openServer(name, size);
    const crew = start<load.Told, load.Heard>(await bundled('load/main.ts'));
    crew.tell({ kind: 'open', target });
    await expectOf(crew, 'opened');
    return { query, play: (plan) => play({ crew, pid, database }, plan) };
  };

  try {
    const { version, fsync, synchronousCommit } = database.settings;
    const durability = `PostgreSQL ${version}, fsync ${fsync}, synchronous_commit ${synchronousCommit}`;
    if (fsync !== 'on' || synchronousCommit !== 'on') throw new Error(`Not durable: ${durability}`);
    say(durability);
    return { durability, settings: database.settings, database, bundle: bundled, open, settle, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

type Cast = { crew: Child<load.Told, load.Heard>; pid: number; database: BenchDatabase };

const play = async ({ crew, pid, database }: Cast, plan: load.Plan): Promise<Played> => {
  crew.tell({ kind: 'round', plan });
  await expectOf(crew, 'ready');
  const before = [treeTimeUs(pid), database.cpuUs()];
  const { measured } = await expectOf(crew, 'measured');
  const after = [treeTimeUs(pid), database.cpuUs()];
  const { written, problems } = await expectOf(crew, 'done');
  const spent = (index: number): number | undefined => {
    const [from, to] = [before[index], after[index]];
    return from === undefined || to === undefined ? undefined : to - from;
  };
  return { measured, serverUs: spent(0), postgresUs: spent(1), written, problems };
};
