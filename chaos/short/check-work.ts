import { followDelivery } from '../core/check-chain.ts';
import type { Report } from '../core/checker.ts';
import type { Event, Task } from '../core/history.ts';
import type { Holders } from './files.ts';
import { isReport, planOf, readText, type Said, scriptOf } from './script.ts';
import { timing } from './world.ts';

// What agents left in a task's log: of each delivery a beginning of its script, each report once, and only from the
// connection that had the delivery at that moment.

const slackMs = 100;

export const checkWork = (task: Task, holders: Holders, report: Report): void => {
  const { id, events } = task;
  const { current, see } = followDelivery();
  let last: (Said & { xid: number }) | undefined;
  let lostMs: number | undefined;
  let taken: Event | undefined;
  const fail = (rule: string, { seq }: Event, what: string): void => report(rule, `${id}: seq ${seq} ${what}`);

  for (const event of events) {
    const said = saidIn(event);
    if (said) {
      const state = `${current.number} ${current.state}${current.isLost ? ', lost' : ''}`;
      if (said.delivery !== current.number || current.isLost || ['QUEUED', 'ENDED'].includes(current.state))
        fail('fence', event, `is of delivery ${said.delivery}; in force is ${state}`);
      if (taken && !isHolder(`${id}:${said.delivery}`, said.connection, { taken, events, holders }))
        fail('holder', event, `came over connection ${said.connection}, which did not have delivery ${said.delivery}`);
      if (!said.isLate) {
        const before = last?.delivery === said.delivery ? last.n : 0;
        if (said.n !== before + 1)
          fail(said.n <= before ? 'stored twice' : 'gap', event, `is report ${said.n} after ${before}`);
        if (!isScripted(id, said, event)) fail('script', event, `is report ${said.n}; the script says otherwise`);
        last = { ...said, xid: event.xid };
      }
    }
    if (event.kind === 'DELIVERY') {
      if (event.from === 'QUEUED' || event.payload.detail === 'resumed') taken = event;
      if (event.payload.detail === 'connection lost') lostMs = event.atMs;
      if (event.payload.detail === 'resumed') lostMs = undefined;
      if (event.payload.outcome === 'LOST' && !isPatient(event.atMs, lostMs))
        fail(
          'grace',
          event,
          `gave the delivery up ${lostMs === undefined ? 'unlost' : `${event.atMs - lostMs} ms after its loss`}`,
        );
    }
    if (event.kind === 'STATUS') checkStatus(event);
    see(event);
  }

  function checkStatus(event: Event): void {
    const { from, to, payload, xid } = event;
    const step = last && scriptOf(id, last.delivery).find((each) => isReport(each) && each.n === last?.n);
    const said = last?.xid === xid && step && 'state' in step ? step.state.toUpperCase().replace('-', '_') : undefined;
    const isAgents =
      ['COMPLETED', 'REJECTED', 'INPUT_REQUIRED', 'AUTH_REQUIRED'].includes(to ?? '') ||
      payload.reason === 'AGENT_FAILED';
    if (isAgents && said !== to) fail('never attempted', event, `is ${from} to ${to}; its agent said ${said}`);
    if (payload.reason === 'AGENT_LOST' && task.agent !== 'beta')
      fail('lost work', event, 'failed; its agent’s work is to be handed over again');
    if (payload.reason === 'TIMEOUT' && !planOf(id).isSilent && !current.isLost)
      fail('orphan', event, `timed out in delivery ${current.number}; everybody forgot it`);
  }
};

const isPatient = (atMs: number, lostMs: number | undefined): boolean =>
  lostMs !== undefined && atMs - lostMs >= timing.graceSeconds * 1_000 - slackMs;

/** Reports, also those that come as messages. */
const saidIn = ({ kind, payload }: Event): Said | undefined => {
  if (kind === 'ARTIFACT') return readText(payload.parts?.[0]?.text);
  if (kind === 'STATUS') return readText(payload.text);
  return kind === 'MESSAGE' && payload.message?.author === 'AGENT'
    ? readText(payload.message.parts[0]?.text)
    : undefined;
};

const isScripted = (task: string, { delivery, n }: Said, { kind }: Event): boolean => {
  const step = scriptOf(task, delivery).find((each) => isReport(each) && each.n === n);
  if (kind === 'ARTIFACT') return step?.do === 'chunk';
  return kind === 'STATUS' ? step?.do === 'status' : step?.do === 'ask' || step?.do === 'end';
};

/**
 * Who was told that it has the delivery since `taken`, if anybody was. A resume was committed between the moment in which the
 * connection was made, which is its number, and the moment in which it was told; when there are two, either may be it.
 */
const isHolder = (name: string, connection: number, { taken, events, holders }: Since): boolean => {
  if (taken.payload.detail !== 'resumed') {
    const told = holders.executed.get(name);
    return told === undefined || told.has(connection);
  }
  const resumes = events.filter(({ payload }) => payload.detail === 'resumed').map(({ committedMs }) => committedMs);
  const told = (holders.resumed.get(name) ?? []).filter((each) => {
    const possible = resumes.filter((ms) => each.connection <= ms && ms <= each.ms);
    return possible.length === 1 && possible[0] === taken.committedMs;
  });
  return told.length === 0 || told.some((each) => each.connection === connection);
};

type Since = { taken: Event; events: Event[]; holders: Holders };
