import type { AgentActor, Pass } from '../core/actor.ts';
import { DomainError } from '../core/domain-error.ts';
import { isRecord } from '../core/json.ts';
import type { Presence } from '../core/presence.ts';
import { isTerminal } from '../core/task-state.ts';
import type { CloseCode } from './agent-socket.ts';
import type { BackPressure } from './back-pressure.ts';
import { readCard } from './card.ts';
import type { Work } from './hand-over.ts';
import { isDomainError, type Params } from './json-rpc.ts';
import { optional, optionalCount, optionalList, required, requiredTaskId, wrong } from './params.ts';

// Who an agent is, what it can take, and what it was working on when its last connection ended.

export type Registration = {
  name: string;
  token: string | undefined;
  capacity: number;
  takesOver: boolean;
  card: Params | undefined;
  resume: Resume[];
};

type Resume = { id: string; delivery: number; lastSeq: number };

export const readRegistration = (params: Params): Registration => {
  const resume = optionalList(params, 'resume')?.map(readResume) ?? [];
  return {
    name: required(params, 'agent_name', 'string'),
    token: optional(params, 'auth_token', 'string'),
    capacity: optionalCount(params, 'capacity') ?? Number.POSITIVE_INFINITY,
    takesOver: optional(params, 'takeover', 'boolean') ?? false,
    card: readCard(params.agent_card),
    resume: [...new Map(resume.map((each) => [each.id, each])).values()],
  };
};

const readResume = (each: unknown): Resume => {
  if (!isRecord(each)) throw wrong('resume', 'a list of objects');
  const delivery = optionalCount(each, 'delivery');
  if (delivery === undefined) throw new DomainError('BAD_INPUT', 'resume.delivery is missing');
  return { id: requiredTaskId(each), delivery, lastSeq: optionalCount(each, 'last_seq', 0) ?? 0 };
};

type Refusal = { error: string; code: CloseCode };

/** Whom the token lets in; else why not, and how the socket is closed. */
export const admit = (pass: Pass | undefined, name: string): { agent: AgentActor } | Refusal => {
  if (pass?.actor.kind !== 'agent') return refusal(pass) ?? notThat(name);
  const { actor } = pass;
  return name === actor.name || name.toLowerCase() === actor.id ? { agent: actor } : notThat(name);
};

export const refusal = (pass: Pass | undefined): Refusal | undefined => {
  if (!pass) return { error: 'The token is missing or not valid', code: 4401 };
  if (pass.actor.kind !== 'agent') return { error: 'Only an agent’s token may register', code: 4403 };
  return undefined;
};

const notThat = (name: string): Refusal => ({ error: `The token is not that of the agent ${name}`, code: 4403 });

type Options = {
  connection: string;
  instance: string;
  agent: AgentActor;
  work: Work;
  presence: Presence;
  pressure: BackPressure;
};

export type Resumed = {
  resumed: string[];
  lastN: Record<string, number>;
  /** What the agent missed: to be told after the answer. */
  tellMissed: () => void;
};

export const resumeAll = async (wanted: Resume[], options: Options): Promise<Resumed> => {
  const found = await Promise.all(wanted.map((each) => resumeOne(each, options)));
  return {
    resumed: found.flatMap(({ id, lastN }) => (lastN === undefined ? [] : [id])),
    lastN: Object.fromEntries(found.flatMap(({ id, lastN }) => (lastN === undefined ? [] : [[id, lastN]]))),
    tellMissed: () => {
      for (const { stop } of found) stop?.();
      options.work.follow();
    },
  };
};

type One = { id: string; lastN?: number; stop?: () => void };

const resumeOne = async ({ id, delivery, lastSeq }: Resume, options: Options): Promise<One> => {
  const { connection, instance, agent, work, presence, pressure } = options;
  const found = await presence.findTask(agent.id, id);
  if (!found) return { id, stop: () => work.stop({ id, delivery }, { reason: 'NOT_FOUND' }) };
  const { key, state } = found.head;
  try {
    const taker = { holder: connection, instance };
    const { task } = await pressure.submit({ kind: 'resume', task: key, agent: agent.id, delivery, taker });
    // An agent that knows no line of the log knows what it was handed over: the lines since then follow.
    work.hold(task, lastSeq > 0 ? Math.min(lastSeq, task.seq) : task.turnSeq);
    return { id, lastN: task.lastN };
  } catch (error) {
    if (!isDomainError(error) || !isLost(error)) throw error;
    const reason = isTerminal(state) ? state : error.code;
    return { id, stop: () => work.stop({ key, id, delivery }, { reason }) };
  }
};

const isLost = ({ code }: DomainError): boolean => code === 'STALE_DELIVERY' || code === 'NOT_FOUND';
