import { checkChain } from '../core/check-chain.ts';
import { checkEnd } from '../core/check-end.ts';
import { checkLanes } from '../core/check-lanes.ts';
import { checkNumbers, checkStates } from '../core/check-tasks.ts';
import type { Counters, Report, Violation } from '../core/checker.ts';
import { type History, readHistory } from '../core/history.ts';
import type { Reader } from '../patient-client.ts';
import { checkDeeds } from './check-deeds.ts';
import { checkReports } from './check-reports.ts';
import { checkStreams } from './check-streams.ts';
import { checkWork } from './check-work.ts';
import { type Deed, deedsOf, type File, holdersOf, readFiles } from './files.ts';
import type { Network } from './world.ts';

// Compares what the actors wrote down with each other and with the final tables. Nothing here is imported from src/: a mistake
// there must not be made here again.

export const check = async (client: Reader, directory: string, networks: Network[]) => {
  const violations: Violation[] = [];
  const report: Report = (rule, what) => violations.push({ rule, what });
  const files = readFiles(directory);
  const deeds = deedsOf(files);
  const holders = holdersOf(files);
  const history = await readHistory(client);
  for (const task of history.values()) {
    checkNumbers(task, report);
    checkStates(task, report);
    checkChain(task, report);
    checkWork(task, holders, report);
    checkAnswers(task, report);
  }
  checkTenants(files, deeds, networks, report);
  const counters: Counters = {
    ...countEvents(history, files),
    ...checkDeeds(history, deeds, report),
    ...checkReports(history, deeds, holders, report),
    ...checkStreams(history, files, report),
    ...checkLanes(history, report, 0),
    ...(await checkEnd(client, history, report, [])),
  };
  return { violations, counters, history };
};

/** An answer is a message, the way back to work, and a new delivery: in one commit. */
const checkAnswers = ({ id, events }: Parameters<typeof checkWork>[0], report: Report): void => {
  events.forEach(({ seq, payload, xid }, index) => {
    if (payload.reason !== 'ANSWERED') return;
    const together = events.filter((event) => event.xid === xid);
    const isSaid = together.some((event) => event.payload.message?.author === 'USER' && event.seq < seq);
    const isQueued = events[index + 1]?.to === 'QUEUED' && events[index + 1]?.xid === xid;
    if (!isSaid || !isQueued) report('answer', `${id}: answered at seq ${seq} without a message or a hand-over`);
  });
};

const checkTenants = (files: File[], deeds: Deed[], networks: Network[], report: Report): void => {
  for (const { network, lines } of files) {
    const own = networks.find(({ name }) => name === network)?.canary ?? '';
    for (const line of lines)
      if (line.at === 'canaries')
        for (const found of line.found) if (found !== own) report('tenant', `${found} was seen in ${network}`);
  }
  for (const { kind, what, task, told } of deeds)
    if (
      kind === 'foreign' &&
      told &&
      (told.at === 'ok' || (told.at === 'fail' && !['NOT_FOUND', 'NULL'].includes(told.code)))
    )
      report('tenant', `${what} of ${task} by a stranger: ${JSON.stringify(told)}`);
};

const countEvents = (history: History, files: File[]): Counters => {
  const events = [...history.values()].flatMap((task) => task.events);
  const count = (isIt: (event: (typeof events)[number]) => boolean): number => events.filter(isIt).length;
  const lines = files.flatMap((file) => file.lines);
  return {
    tasks: history.size,
    events: events.length,
    chunks: count(({ kind }) => kind === 'ARTIFACT'),
    completed: count(({ to }) => to === 'COMPLETED'),
    questions: count(({ to }) => to === 'INPUT_REQUIRED' || to === 'AUTH_REQUIRED'),
    answered: count(({ payload }) => payload.reason === 'ANSWERED'),
    expired: count(({ to }) => to === 'EXPIRED'),
    timedOut: count(({ payload }) => payload.reason === 'TIMEOUT'),
    agentsLost: count(({ payload }) => payload.detail === 'connection lost'),
    resumed: count(({ payload }) => payload.detail === 'resumed'),
    handedOn: count(({ payload }) => payload.outcome === 'LOST'),
    lateRefused: lines.filter((line) => line.at === 'refusal' && line.code === 'STALE_DELIVERY').length,
  };
};
