import { checkMoment, slackMs } from './check-moment.ts';
import type { Report } from './checker.ts';
import type { Deed } from './deeds.ts';
import type { Event, History } from './history.ts';

/** Chunks, progress and questions are known by their texts, follow-ups by their messages' ids. */
export const checkSaid = (history: History, deeds: Deed[], report: Report): void => {
  const attempts = new Map<string, Deed[]>();
  for (const deed of deeds)
    if (deed.text !== undefined) {
      const name = `${deed.task} ${deed.kind} ${deed.text}`;
      attempts.set(name, [...(attempts.get(name) ?? []), deed]);
    }
  const stored = new Map<string, Event>();
  for (const task of history.values())
    for (const event of task.events) {
      const said = saidIn(event);
      if (!said) continue;
      const name = `${task.key} ${said}`;
      const [first] = attempts.get(name) ?? [];
      if (!first) report('never attempted', `${name} at seq ${event.seq}`);
      else checkMoment({ ...first, told: undefined }, event, report);
      const before = stored.get(name);
      if (before) report('stored twice', `${name} at seq ${before.seq} and ${event.seq}`);
      stored.set(name, event);
    }
  for (const [name, all] of attempts) {
    const event = stored.get(name);
    const ok = all.filter(({ told }) => told?.at === 'ok');
    if (ok.length > 0 && !event) report('lost', `${name} was told ok and is not stored`);
    if (event && all.every(({ told }) => told?.at === 'fail')) report('refused, stored', `${name} at seq ${event.seq}`);
    for (const { told, isTwice } of ok)
      if (event && told?.at === 'ok' && !isTwice) {
        if (told.seq !== event.seq && event.kind !== 'MESSAGE')
          report('wrong place', `${name} is at seq ${event.seq}, told ${told.seq}`);
        if (event.committedMs > told.ms + slackMs) report('moment', `${name} was told ok before its commit`);
      }
  }
};

const saidIn = ({ kind, to, seq, payload }: Event): string | undefined => {
  if (kind === 'ARTIFACT') return `artifact ${payload.parts?.[0]?.text}`;
  const isFollowUp = kind === 'MESSAGE' && payload.message?.author === 'USER' && seq !== birthMessage;
  if (isFollowUp) return `followUp ${payload.message?.id}`;
  if (kind !== 'STATUS' || payload.text === undefined) return undefined;
  return `${to === 'WORKING' ? 'progress' : 'ask'} ${payload.text}`;
};

const birthMessage = 2; // the line after the first
