import { followDelivery } from './check-chain.ts';
import type { Report } from './checker.ts';
import type { Task } from './history.ts';
import { scriptOf } from './script.ts';

/** What is stored of each delivery is a beginning of what its script sends; of a completed one, all of it. */
export const checkOutput = ({ key, events, artifact }: Task, report: Report): void => {
  const { current, see } = followDelivery();
  let next = 0;
  let texts = '';
  let expected: { size: number; lastSeq: number; complete: boolean } | undefined;
  for (const event of events) {
    const { seq, kind, from, to, payload } = event;
    see(event);
    if (kind === 'DELIVERY' && to === 'QUEUED') {
      next = 0;
      texts = '';
    }
    if (kind === 'STATUS' && to === 'SUBMITTED') expected = undefined;
    if (kind === 'STATUS' && to === 'WORKING') texts += payload.text ?? '';
    if (kind === 'ARTIFACT') {
      const text = payload.parts?.[0]?.text ?? '';
      if (!text.startsWith(`${key}:${current.number}:${next}:`))
        report('chunks', `${key}: seq ${seq} is ${text}, not chunk ${next} of ${current.number}`);
      next += 1;
      const size = (payload.append ? (expected?.size ?? 0) : 0) + text.length;
      expected = { size, lastSeq: seq, complete: payload.lastChunk === true };
    }
    if (kind === 'MESSAGE' && payload.message?.author === 'AGENT') {
      const text = payload.message.parts.map((part) => part.text).join('');
      if (text !== texts) report('turn text', `${key}: the turn's message is ${text}, its texts were ${texts}`);
      texts = '';
    }
    if (kind !== 'STATUS') continue;
    const deed = deedOf(to, payload.reason);
    if (!deed) continue;
    if (texts) report('turn text', `${key}: the turn ended at seq ${seq}, and nothing tells its texts ${texts}`);
    texts = '';
    if (!isScripted(key, current.number, { deed, next, text: payload.text }))
      report('outcome', `${key}: ${from} to ${to} at seq ${seq} after ${next} chunks; the script says otherwise`);
  }
  if (JSON.stringify(artifact) !== JSON.stringify(expected))
    report('artifact', `${key}: row ${JSON.stringify(artifact)}, log ${JSON.stringify(expected)}`);
};

const deedOf = (to: string | null, reason: string | undefined) => {
  if (to === 'COMPLETED') return 'complete';
  if (reason === 'SCRIPTED') return 'fail';
  return to === 'INPUT_REQUIRED' || to === 'AUTH_REQUIRED' ? to : undefined;
};

type Done = { deed: string; next: number; text: string | undefined };

/** The script has this step, after as many chunks. */
const isScripted = (task: string, delivery: number, { deed, next, text }: Done): boolean => {
  const { steps } = scriptOf(task, delivery);
  const at = text === undefined ? steps.length - 1 : Number(text.split(':')[1]);
  const step = steps[at];
  const chunks = steps.slice(0, at).filter((each) => each.do === 'chunk').length;
  const name = step?.do === 'end' ? step.how : step?.do === 'ask' ? step.state : undefined;
  return name === deed && chunks === next;
};
