import type { AgentActor } from '../core/actor.ts';
import { DomainError } from '../core/domain-error.ts';
import type { Presence } from '../core/presence.ts';
import type { BackPressure } from './back-pressure.ts';
import type { Work } from './hand-over.ts';
import type { Holding } from './holding.ts';
import type { Params } from './json-rpc.ts';
import { optionalCount, requiredTaskId } from './params.ts';
import type { Call } from './peer.ts';
import { type Report, type ReportMethod, readReport } from './report.ts';

// A report on a delivery that the connection has is submitted in the turn in which it arrives, so that order is kept and
// batches grow; only one on anything else has to look the task up first, and what comes after it waits.

export type Reports = (method: ReportMethod, params: Params, call: Call) => Promise<void> | undefined;

type Options = {
  connection: string;
  instance: string;
  agent: AgentActor;
  work: Work;
  presence: Presence;
  pressure: BackPressure;
  newId: () => string;
};

type Sent = { report: Report; delivery: number | undefined; n: number | undefined; call: Call };

export const createReports = (options: Options): Reports => {
  const { connection, instance, agent, work, presence, pressure, newId } = options;

  const receive: Reports = (method, params, call) => {
    const id = requiredTaskId(params);
    const sent = {
      report: readReport(method, params, { name: agent.name, newId }),
      delivery: optionalCount(params, 'delivery'),
      n: optionalCount(params, 'n'),
      call,
    };
    const holding = work.find(id);
    if (!holding) return lookUp(id, sent).catch(call.refuse);
    const room = pressure.whenRoom(holding.key);
    if (room) return room.then(() => receive(method, params, call)).catch(call.refuse);
    return onHeld(holding, sent);
  };

  const onHeld = (holding: Holding, sent: Sent): undefined => {
    const { outcome } = sent.report;
    const delivery = sent.delivery ?? holding.delivery;
    const isThis = delivery === holding.delivery;
    if (outcome && isThis) {
      const isStopping = holding.stoppingMs !== undefined;
      if (isStopping) {
        const confirmed = work.confirm(holding);
        if (outcome === 'CANCELED') return answer(confirmed, sent.call);
        confirmed.catch(() => undefined); // the refusal of the report is the answer
      }
      holding.reported.add(outcome);
    }
    return submit(holding.key, delivery, sent);
  };

  const submit = (task: string, delivery: number, { report, n, call }: Sent): undefined => {
    const fence = { agent: agent.id, delivery, holder: connection };
    return answer(pressure.submit(report.command({ task, fence, n })), call);
  };

  const answer = (answered: ReturnType<BackPressure['submit']>, call: Call): undefined => {
    answered.then(({ task }) => call.answer({ seq: task.seq }), call.refuse);
  };

  const lookUp = async (id: string, sent: Sent): Promise<void> => {
    const found = await presence.findTask(agent.id, id);
    if (!found) throw new DomainError('NOT_FOUND', `There is no task ${id}`, { taskId: id });
    const { head, isHeldAlive } = found;
    const { key: task, delivery, deliveryState } = head;
    await pressure.whenRoom(task);
    const isLive = deliveryState !== 'QUEUED' && deliveryState !== 'ENDED';
    const isMeant = sent.delivery === undefined || sent.delivery === delivery;
    // The agent goes on with what nobody alive has: it is resumed here. All else the fence decides.
    if (isLive && isMeant && !isHeldAlive) {
      const taker = { holder: connection, instance };
      const resumed = await pressure.submit({ kind: 'resume', task, agent: agent.id, delivery, taker });
      const holding = work.hold(resumed.task, resumed.task.seq);
      work.follow();
      return onHeld(holding, sent);
    }
    submit(task, sent.delivery ?? delivery, sent);
  };

  return receive;
};
