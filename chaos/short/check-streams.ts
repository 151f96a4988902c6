import { isTerminal } from '../core/check-tasks.ts';
import type { Counters, Report } from '../core/checker.ts';
import type { Event, History, Task } from '../core/history.ts';
import { type EventCopy, hashOf } from './copy.ts';
import type { File } from './files.ts';
import type { Seen } from './record.ts';

// Every subscriber's copy is the log: from where it asked, without a gap or a duplicate, in order, line for line; and a stream
// ends by itself only where its task has ended.

type Stream = Extract<Seen, { at: 'subscribe' }> & { events: Extract<Seen, { at: 'event' }>[]; end: Seen | undefined };

export const checkStreams = (history: History, files: File[], report: Report): Counters => {
  const byId = new Map([...history.values()].map((task) => [task.id, task]));
  const hashes = new Map<string, string[]>();
  const counters = { streams: 0, clientResumes: 0, eventsCopied: 0, streamsCompleted: 0, foreignLooks: 0 };
  for (const stream of files.flatMap(({ lines }) => streamsOf(lines))) {
    const task = byId.get(stream.task);
    if (stream.isForeign) {
      counters.foreignLooks += 1;
      if (stream.events.length > 0 || stream.end?.at === 'complete')
        report('tenant', `${stream.task}: ${stream.events.length} events were shown to a stranger`);
      continue;
    }
    counters.streams += 1;
    counters.eventsCopied += stream.events.length;
    if (stream.after > 0) counters.clientResumes += 1;
    if (stream.end?.at === 'complete') counters.streamsCompleted += 1;
    if (!task) {
      report('lost', `${stream.task} was followed and does not exist`);
      continue;
    }
    const known = hashes.get(task.id) ?? task.events.map((event) => hashOf(copyOf(event)));
    hashes.set(task.id, known);
    checkCopy(stream, known, report);
    checkEnd(stream, task, report);
  }
  return counters;
};

const streamsOf = (lines: File['lines']): Stream[] => {
  const streams = new Map<string, Stream>();
  for (const line of lines) {
    if (line.at === 'subscribe') streams.set(line.stream, { ...line, events: [], end: undefined });
    else if ('stream' in line) {
      const stream = streams.get(line.stream);
      if (line.at === 'event') stream?.events.push(line);
      else if (stream) stream.end = line;
    }
  }
  return [...streams.values()];
};

const checkCopy = ({ task, after, over, events }: Stream, hashes: string[], report: Report): void => {
  const wrong = events.findIndex(({ seq, hash }, index) => seq !== after + 1 + index || hashes[seq - 1] !== hash);
  const event = events[wrong];
  if (!event) return;
  const { seq } = event;
  const due = after + 1 + wrong;
  if (seq !== due) report('stream', `${task} over ${over}: seq ${seq} came where ${due} was due`);
  else
    report(
      'copy',
      `${task} over ${over}: seq ${seq} is ${hashes[seq - 1] === undefined ? 'not' : 'another line'} in the log`,
    );
};

const checkEnd = ({ task: id, after, over, ms, events, end }: Stream, task: Task, report: Report): void => {
  const last = events.at(-1)?.seq ?? after;
  if (end?.at === 'refused') report('stream', `${id} over ${over}, after ${after}: refused with ${end.code}`);
  if (end?.at === 'open' && isTerminal(task.state))
    report('stream', `${id} over ${over}: stands still at ${last} of ${task.lastSeq}; the task is ${task.state}`);
  if (end?.at !== 'complete') return;
  const { kind, to } = task.events[last - 1] ?? {};
  if (kind !== 'STATUS' || !to || !isTerminal(to))
    report('stream', `${id} over ${over}: complete at ${last}, which is no end`);
  const next = task.events[last]; // a reopening, after the stream was opened at the earliest
  if (next && next.committedMs < ms - 1_500)
    report('stream', `${id} over ${over}: complete at ${last}, though seq ${next.seq} was there before it began`);
};

const kinds: Record<string, string> = {
  STATUS: 'StatusEvent',
  MESSAGE: 'MessageEvent',
  ARTIFACT: 'ArtifactEvent',
  DELIVERY: 'DeliveryEvent',
};

const copyOf = ({ seq, kind, from, to, actor, atMs, payload }: Event): EventCopy => {
  const shared = { __typename: kinds[kind], seq, actor, at: new Date(Math.round(atMs)).toISOString() };
  const { reason, text, messageId, message, artifactId, append, lastChunk, parts, number, outcome, detail } = payload;
  if (kind === 'STATUS')
    return { ...shared, from, to, reason, text, final: isTerminal(to ?? ''), said: messageId && { id: messageId } };
  if (kind === 'MESSAGE' && message) {
    const { id, author, kind: said } = message;
    return { ...shared, message: { id, author, kind: said, text: message.parts.map((part) => part.text).join('') } };
  }
  if (kind === 'ARTIFACT')
    return { ...shared, artifactId, append, lastChunk, parts: parts?.map((part) => ({ text: part.text })) };
  return { ...shared, detail, was: from, now: to, number, outcome };
};
