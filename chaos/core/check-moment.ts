import type { Report } from './checker.ts';
import type { Deed } from './deeds.ts';
import type { Event } from './history.ts';

/** Clocks of one machine, read by several processes. */
export const slackMs = 250;

/** It was committed after it was asked for and before it was answered. */
export const checkMoment = ({ op, kind, ms, told, task }: Deed, { committedMs }: Event, report: Report): void => {
  if (committedMs < ms - slackMs) report('moment', `${kind} ${op} of ${task} was stored before it was done`);
  if (told?.at === 'ok' && committedMs > told.ms + slackMs)
    report('moment', `${kind} ${op} of ${task} was told ok ${committedMs - told.ms} ms before its commit`);
};
