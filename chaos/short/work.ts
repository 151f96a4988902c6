import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentSocket, Answer } from './agent-socket.ts';
import type { Line } from './record.ts';
import { isReport, type Report, scriptOf, textOf } from './script.ts';

// One delivery: does what the script says, and sends again what was not answered, on whichever connection the agent has.

export type Work = {
  task: string;
  delivery: number;
  lastSeq(): number;
  begin(): void;
  /** There is something left to do. */
  isBusy(): boolean;
  /** The delivery is this connection's; reports up to `lastN` are stored. */
  goOnAt(socket: AgentSocket, lastN: number): void;
  /** The agent has no connection now. */
  waitForSocket(): void;
  stop(): void;
};

type Options = {
  task: string;
  delivery: number;
  seq: number;
  canary: string;
  write: (line: Line) => void;
  onOver: (work: Work) => void;
  onDrop: (lingers: boolean) => void;
};

const again = new Set(['INTERNAL', 'RATE_LIMITED', 'BAD_INPUT']); // not stored, or who knows: the same report once more

export const createWork = ({ task, delivery, seq, canary, write, onOver, onDrop }: Options): Work => {
  const unanswered = new Map<number, Report>();
  let socket: AgentSocket | undefined;
  let lastSeq = seq;
  let isStopped = false;
  let isBusy = false;
  let ring: () => void = () => undefined;

  const send = (report: Report): void => {
    const at = socket;
    if (!at || isStopped) return;
    const { n } = report;
    const op = randomUUID();
    write({
      at: 'invoke',
      ms: Date.now(),
      op,
      kind: 'report',
      task,
      delivery,
      n,
      what: whatOf(report),
      connection: at.connection,
    });
    at.request(op, ...frameOf(report, textOf(canary, delivery, n, at.connection))).then((answer) =>
      take(answer, { op, report, at }),
    );
  };

  const frameOf = (report: Report, text: string): [string, object] => {
    const { n } = report;
    const shared = { task_id: task, delivery, n };
    const message = { parts: [{ type: 'text', text }] };
    if (report.do === 'chunk') {
      const artifact = { artifact_id: 'out', parts: [{ type: 'text', text }] };
      return ['task.artifact', { ...shared, artifact, append: report.index > 0, last_chunk: report.isLast }];
    }
    if (report.do === 'end')
      return ['task.complete', { ...shared, status: { state: report.state, message }, final: true }];
    const state = report.do === 'ask' ? report.state : 'working';
    return ['task.status', { ...shared, status: { state, message }, final: false }];
  };

  const take = (answer: Answer, { op, report, at }: { op: string; report: Report; at: AgentSocket }): void => {
    const ms = Date.now();
    if ('seq' in answer) {
      write({ at: 'ok', ms, op, seq: answer.seq });
      lastSeq = Math.max(lastSeq, answer.seq);
      unanswered.delete(report.n);
      const isOver = report.do === 'end' || (report.do === 'ask' && report.state === 'input-required');
      if (isOver) onOver(work);
      ring();
      return;
    }
    if (answer.code === undefined || answer.code === 'INTERNAL')
      write({ at: 'unknown', ms, op, why: answer.code ?? 'the connection ended' });
    else write({ at: 'fail', ms, op, code: answer.code });
    if (at !== socket || answer.code === undefined) return; // the connection was given up; the report is with the new one
    if (!again.has(answer.code)) onOver(work);
    else setTimeout(() => at === socket && unanswered.has(report.n) && send(report), 300).unref();
  };

  const begin = async (): Promise<void> => {
    isBusy = true;
    await follow();
    isBusy = false;
  };

  const follow = async (): Promise<void> => {
    for (const step of scriptOf(task, delivery)) {
      // What ends a turn is said when all before it is stored.
      const waits = step.do === 'ask' || step.do === 'end' || step.do === 'think';
      while (waits && unanswered.size > 0 && !isStopped) await new Promise<void>((resolve) => (ring = resolve));
      if (isStopped) return;
      if (isReport(step)) {
        unanswered.set(step.n, step);
        send(step);
      } else if (step.do === 'think') await sleep(step.ms);
      else if (step.do === 'drop') onDrop(step.lingers);
      else if (step.do === 'crash') {
        write({ at: 'crash', ms: Date.now(), task });
        process.kill(process.pid, 'SIGKILL');
      }
    }
  };

  const work: Work = {
    task,
    delivery,
    lastSeq: () => lastSeq,
    begin: () => void begin(),
    isBusy: () => isBusy && !isStopped,
    goOnAt(at, lastN) {
      socket = at;
      for (const n of [...unanswered.keys()]) if (n <= lastN) unanswered.delete(n);
      for (const report of unanswered.values()) send(report);
      ring();
    },
    waitForSocket() {
      socket = undefined;
    },
    stop() {
      isStopped = true;
      ring();
    },
  };
  return work;
};

const whatOf = (report: Report): string =>
  report.do === 'end' || report.do === 'ask' ? report.state : report.do === 'chunk' ? 'chunk' : 'working';
