import type { Counters, Report } from './checker.ts';
import type { Deed } from './deeds.ts';
import type { Event, History, Task } from './history.ts';
import { timing } from './world.ts';

// A question is answered once, given up in its time, or its task ends. Who has to ask for input cannot go on without.

export const checkQuestions = (history: History, deeds: Deed[], report: Report): Counters => {
  const counters: Counters = { questions: 0, answered: 0, answersLost: 0, wentOn: 0, givenUp: 0 };
  const count = (name: string): void => {
    counters[name] = (counters[name] ?? 0) + 1;
  };
  const answers = new Set<string>();
  for (const task of history.values()) {
    for (const id of checkTask(task, report, count)) {
      if (answers.has(id)) report('answer', `${task.key}: ${id} has answered before`);
      answers.add(id);
    }
  }
  const told = new Set(deeds.flatMap(({ kind, text, told }) => (kind === 'followUp' && told ? (text ?? []) : [])));
  counters.answersLost = [...told].filter((id) => !answers.has(id)).length;
  return counters;
};

const isAsking = (state: string | null): boolean => state === 'INPUT_REQUIRED' || state === 'AUTH_REQUIRED';

/** Returns the messages that were the answer. */
const checkTask = ({ key, events }: Task, report: Report, count: (name: string) => void): string[] => {
  const answers: string[] = [];
  let state: string | null = null;
  let askedMs = 0;
  let message: string | undefined; // of a user, said while the agent asks
  for (const [index, { seq, kind, from, to, actor, payload, atMs }] of events.entries()) {
    if (kind === 'MESSAGE' && payload.message?.author === 'USER') {
      if (message) report('answer', `${key}: seq ${seq} was said to a question that ${message} had answered`);
      if (isAsking(state)) message = payload.message.id;
    }
    if (kind !== 'STATUS') continue;
    const isAnswered = payload.reason === 'ANSWERED';
    if (message && !(isAnswered && actor === message))
      report('answer', `${key}: ${message} was said to the question and did not answer it: ${to} at seq ${seq}`);
    if (isAnswered) {
      count('answered');
      answers.push(actor);
      if (!isAsking(from) || actor !== message)
        report('answer', `${key}: answered by ${actor} at seq ${seq} from ${from}`);
      if (!isQueued(events[index + 1])) report('answer', `${key}: answered at seq ${seq} and not handed over again`);
    } else if (isAsking(from) && to === 'WORKING') {
      count('wentOn');
      if (from !== 'AUTH_REQUIRED') report('question', `${key}: went on at seq ${seq} without the input it asked for`);
    }
    if (payload.reason === 'INPUT_TIMEOUT') {
      count('givenUp');
      if (!isAsking(from) || atMs < askedMs + timing.inputSeconds * 1_000 - 1)
        report('question', `${key}: given up from ${from} at seq ${seq}, ${atMs - askedMs} ms after it was asked`);
    }
    if (isAsking(to)) {
      count('questions');
      askedMs = atMs;
    }
    message = undefined;
    state = to;
  }
  return answers;
};

const isQueued = (event: Event | undefined): boolean => event?.kind === 'DELIVERY' && event.to === 'QUEUED';
