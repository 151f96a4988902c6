import type { Command } from '../core/command.ts';
import type { DeliveryOutcome } from '../core/delivery-state.ts';
import { artifactCommand, type Reported, statusCommand } from '../core/report.ts';
import type { TaskState } from '../core/task-state.ts';
import type { Params } from './json-rpc.ts';
import type { AgentMethod } from './methods.ts';
import { optional, required, requiredRecord, wrong } from './params.ts';
import { partsIn, partsOfMessage, stateOf } from './wire.ts';

// The four messages in which an agent speaks of its work, as commands.

export type ReportMethod = Extract<AgentMethod, `task.${string}`>;

export type Report = {
  command: (reported: Reported) => Command;
  /** How the delivery ends, if the report is accepted. */
  outcome?: DeliveryOutcome;
};

type Speaker = { name: string; newId: () => string };

export const readReport = (method: ReportMethod, params: Params, by: Speaker): Report => readers[method](params, by);

const acknowledgement = (): Report => ({
  command: ({ task, fence, n }) => ({ kind: 'acknowledge', task, fence, ...(n !== undefined && { n }) }),
});

const status = (params: Params, by: Speaker): Report => {
  const { state, message } = requiredRecord(params, 'status');
  if (typeof state !== 'string') throw wrong('status.state', 'a string');
  const told = {
    state: stateOf(state),
    parts: partsOfMessage(message, 'status.message'),
    usage: params.usage,
  };
  const outcome = outcomes[told.state];
  return { command: (reported) => statusCommand(reported, told, by), ...(outcome && { outcome }) };
};

const completion = (params: Params, by: Speaker): Report => {
  const report = status(params, by);
  if (report.outcome === undefined || report.outcome === 'INTERRUPTED')
    throw wrong('status.state', 'one of completed, failed, canceled, rejected');
  return report;
};

const artifact = (params: Params): Report => {
  const given = requiredRecord(params, 'artifact');
  const chunk = {
    artifactId: required(given, 'artifact_id', 'string'),
    name: optional(given, 'name', 'string'),
    description: optional(given, 'description', 'string'),
    parts: partsIn(given.parts, 'artifact.parts'),
    append: optional(params, 'append', 'boolean'),
    lastChunk: optional(params, 'last_chunk', 'boolean'),
  };
  return { command: (reported) => artifactCommand(reported, chunk) };
};

const readers: Record<ReportMethod, (params: Params, by: Speaker) => Report> = {
  'task.ack': acknowledgement,
  'task.status': status,
  'task.artifact': artifact,
  'task.complete': completion,
};

const outcomes: Partial<Record<TaskState, DeliveryOutcome>> = {
  COMPLETED: 'COMPLETED',
  FAILED: 'FAILED',
  CANCELED: 'CANCELED',
  REJECTED: 'REJECTED',
  INPUT_REQUIRED: 'INTERRUPTED',
};
