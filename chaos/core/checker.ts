import type { Reader } from '../patient-client.ts';
import { checkDeeds } from './check-deeds.ts';
import { checkEnd } from './check-end.ts';
import { checkExpiry } from './check-expiry.ts';
import { checkHolders } from './check-holders.ts';
import { checkLanes } from './check-lanes.ts';
import { checkQuestions } from './check-questions.ts';
import { checkTasks } from './check-tasks.ts';
import { readDeeds, readRollbacks } from './deeds.ts';
import { readHistory } from './history.ts';

// Compares what the actors wrote down with the final tables. Nothing here is imported from src/: a mistake there must not
// be made here again.

export type Violation = { rule: string; what: string };
export type Counters = Record<string, number>;
export type Report = (rule: string, what: string) => void;

export const check = async (client: Reader, directory: string) => {
  const violations: Violation[] = [];
  const report: Report = (rule, what) => violations.push({ rule, what });
  const deeds = readDeeds(directory);
  const history = await readHistory(client);
  const counters: Counters = {
    ...checkTasks(history, report),
    ...checkDeeds(history, deeds, report),
    ...checkHolders(history, deeds, report),
    ...checkQuestions(history, deeds, report),
    ...checkExpiry(history, deeds, report),
    ...checkLanes(history, report),
    ...(await checkEnd(client, history, report, readRollbacks(directory))),
  };
  return { violations, counters };
};
