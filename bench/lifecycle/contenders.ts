import { type Child, expectOf, startChild } from '../child.ts';
import type { BenchDatabase } from '../database.ts';
import { layGround } from '../ground.ts';
import type { LifecyclePlan } from '../load/told.ts';
import type { Actor, Played, ServerName, Stage } from '../stage.ts';
import type { Heard, Told } from '../writer/contender.ts';
import { countFlushes, findA2aLoss, findHubLoss } from './check.ts';
import type { Round } from './report.ts';

/** A round's figures; `lost` says why it has none. */
type Run = { round: Round; lost: string | undefined /** Commands in one commit. */; perFlush?: number };
export type Contender = (plan: LifecyclePlan) => Promise<Run>;

const crowd = { agents: 8, contexts: 256 };

export const openOurs = async (stage: Stage): Promise<Contender> => {
  const actor = await stage.open('ours', crowd);
  return async (plan) => {
    const played = await actor.play({ kind: 'lifecycle', ...plan });
    const { written, problems } = played;
    const flushes = await countFlushes(actor, written);
    const chunks = written.reduce((sum, each) => sum + each.chunks, 0);
    return {
      round: { ...roundOf(played), commitsPerTask: flushes / written.length },
      lost: problems[0] ?? (await findHubLoss(actor, written)),
      perFlush: Math.round((chunks + 3 * written.length) / flushes), // create, acknowledge, complete
    };
  };
};

export const openPlain = (stage: Stage): Promise<Contender> => openPeer(stage, 'plain', findHubLoss);
export const openA2aOnPostgres = (stage: Stage): Promise<Contender> => openPeer(stage, 'a2a-postgres', findA2aLoss);
/** What it stored is gone with it: only its subscribers can be asked. */
export const openA2aInMemory = (stage: Stage): Promise<Contender> =>
  openPeer(stage, 'a2a-memory', async () => undefined);

type FindLoss = (actor: Actor, written: Played['written']) => Promise<string | undefined>;

const openPeer = async (stage: Stage, name: ServerName, findLoss: FindLoss): Promise<Contender> => {
  const actor = await stage.open(name, crowd);
  return async (plan) => {
    const played = await actor.play({ kind: 'lifecycle', ...plan });
    const { written, problems } = played;
    return { round: roundOf(played), lost: problems[0] ?? (await findLoss(actor, written)) };
  };
};

const roundOf = ({ measured, serverUs, postgresUs }: Played): Round => ({
  chunksPerSecond: measured.chunks / measured.seconds,
  serverUs: serverUs === undefined ? undefined : serverUs / measured.chunks,
  postgresUs: postgresUs === undefined ? undefined : postgresUs / measured.chunks,
  loadUs: measured.cpuUs / measured.chunks,
  commitsPerTask: undefined,
});

/** The bare loop. It is its own load, and takes batches as large as ours were: `perFlush` tells. */
export const openLimit = async (
  stage: Stage,
  { inFlight, perFlush }: { inFlight: number; perFlush: (chunksPerTask: number) => number },
): Promise<{ run: Contender; stop(): Promise<void> }> => {
  const database = await stage.database.another('bare', true);
  const child: Child<Told, Heard> = startChild(await stage.bundle('writer/main.ts'));
  child.tell({ kind: 'open', contender: 'limit', url: database.url, ground: await layGround(database, inFlight) });
  await expectOf(child, 'opened');
  return {
    run: async ({ chunksPerTask }) => {
      child.tell({ kind: 'round', plan: { chunksPerTask, lastBeginMs: 0, perFlush: perFlush(chunksPerTask) } });
      return measureLimit({ child, database, cpuUs: stage.database.cpuUs });
    },
    stop: child.stop,
  };
};

type Limit = {
  child: Child<Told, Heard>;
  database: Pick<BenchDatabase, 'query'>;
  cpuUs: BenchDatabase['cpuUs'];
};

const measureLimit = async ({ child, database, cpuUs }: Limit): Promise<Run> => {
  const before = cpuUs(); // while it makes its statements, PostgreSQL rests
  const { measured } = await expectOf(child, 'measured');
  const after = cpuUs();
  const { written } = await expectOf(child, 'done');
  const round = {
    chunksPerSecond: measured.chunks / measured.seconds,
    serverUs: measured.cpuUs / measured.chunks,
    postgresUs: before === undefined || after === undefined ? undefined : (after - before) / measured.chunks,
    loadUs: undefined,
    commitsPerTask: measured.commits / written.length,
  };
  return { round, lost: await findHubLoss(database, written) };
};
