import type { AgentActor } from '../core/actor.ts';
import type { Assignment } from '../core/assignment.ts';
import type { Command } from '../core/command.ts';
import type { TaskHead } from '../core/head.ts';
import { statusCommand } from '../core/report.ts';
import type { Answer } from '../core/writer.ts';
import { createFollower } from './follow.ts';
import { type Because, createHolding, type Holding } from './holding.ts';
import type { HubOptions } from './hub.ts';
import type { Peer } from './peer.ts';
import { executeOut, lastSeq } from './wire.ts';

// What one connection works on: handed over, followed in the log, stopped when somebody else has ended it.

export type Work = {
  /** How many places are taken. What was told to stop keeps its place until the agent says that it did, or a while has passed. */
  load(): number;
  find(taskId: string): Holding | undefined;
  execute(assignment: Assignment): void;
  /** The delivery is this connection's again. `after`: what the agent knows of the log; the rest is told by `follow`. */
  hold(task: TaskHead, after: number): Holding;
  follow(): void;
  /** Tells the agent to stop something that it thinks it has. Without a key: the task is none of its own any more. */
  stop(delivery: Delivery & { key?: string }, because: Because): string;
  /** The agent said that it stopped. */
  confirm(delivery: Delivery & { key: string }): Promise<Answer>;
  patrol(): void;
  /** The socket is gone. */
  close(): Promise<void>;
};

type Delivery = { id: string; delivery: number };

type Options = Pick<HubOptions, 'watchers' | 'now' | 'newId' | 'log' | 'onRoom'> & {
  connection: string;
  agent: AgentActor;
  peer: Peer;
  submit: (command: Command) => Promise<Answer>;
};

const stopMs = 15_000; // then the place is free, whatever the agent says

export const createWork = ({ watchers, now, newId, log, onRoom, connection, agent, peer, submit }: Options): Work => {
  const holdings = new Set<Holding>();
  const byTask = new Map<string, Holding>();
  let isClosed = false;

  const hold = (task: TaskHead, after: number, shown = 0): Holding => {
    const holding = createHolding(task, { after, shown });
    holdings.add(holding);
    byTask.set(holding.id, holding);
    return holding;
  };

  const letGo = (holding: Holding): void => {
    if (!holdings.delete(holding)) return;
    if (byTask.get(holding.id) === holding) byTask.delete(holding.id);
    holding.following.abort();
    peer.forget(holding.questions);
    onRoom();
  };

  const { follow } = createFollower({
    ...{ watchers, log, peer },
    onGone: letGo,
    onStop(holding, because) {
      holding.stoppingMs = now();
      holding.questions.push(stop(holding, because));
    },
    onStopped(holding) {
      holding.stoppingMs = now();
      confirmed(holding);
    },
  });

  const followAll = (): void => {
    for (const holding of holdings) if (!holding.isFollowed) void follow(holding);
  };

  const stop: Work['stop'] = ({ key, id, delivery }, { reason, text }) =>
    peer.ask(
      'task.cancel',
      { task_id: id, delivery, reason, ...(text !== undefined && { text }) },
      {
        onResult: () => key !== undefined && confirmed({ key, id, delivery }),
        onError: (message) => log.debug({ task: id, message }, 'An agent did not stop'),
      },
    );

  const confirm: Work['confirm'] = async ({ key, id, delivery }) => {
    const answer = await submit({ kind: 'release', task: key, delivery, agent: agent.id, isConfirmed: true });
    for (const holding of holdings) if (holding.id === id && holding.delivery === delivery) letGo(holding);
    onRoom(); // its context is free too
    return answer;
  };

  const confirmed = (delivery: Parameters<Work['confirm']>[0]): void => {
    confirm(delivery).catch((error) => log.warn({ err: error, task: delivery.id }, 'A stop was not recorded'));
  };

  const execute = (assignment: Assignment): void => {
    const { task } = assignment;
    const holding = hold(task, task.seq, lastSeq(assignment));
    void follow(holding, true);
    const reported = { task: task.key, fence: { agent: agent.id, delivery: task.delivery, holder: connection } };
    const tell = (command: Command): void => {
      // Too late or not needed: what ended the delivery is told on its own.
      submit(command).catch((error) => log.debug({ err: error, task: task.id }, 'An acknowledgement was refused'));
    };
    const question = peer.ask('task.execute', executeOut(assignment), {
      onResult: () => tell({ kind: 'acknowledge', ...reported }),
      onError: (text) => {
        holding.reported.add('REJECTED');
        tell(statusCommand(reported, { state: 'REJECTED', parts: [{ text }] }, { name: agent.name, newId }));
      },
    });
    holding.questions.push(question);
  };

  const end = async (holding: Holding): Promise<void> => {
    const { key: task, delivery, stoppingMs } = holding;
    holding.following.abort();
    try {
      if (stoppingMs === undefined) {
        const { task: head } = await submit({ kind: 'lose', task, delivery, holder: connection });
        if (head.delivery === delivery && head.deliveryState !== 'ENDED') return;
      }
      await submit({ kind: 'release', task, delivery, agent: agent.id });
    } catch (error) {
      log.warn({ err: error, task: holding.id }, 'A delivery of a closed connection waits for its deadline');
    }
  };

  return {
    load: () => holdings.size,
    find: (taskId) => byTask.get(taskId),
    hold,
    follow: followAll,
    execute,
    stop,
    confirm,
    patrol() {
      for (const holding of holdings)
        if (holding.stoppingMs !== undefined && now() - holding.stoppingMs >= stopMs) letGo(holding);
      followAll();
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await Promise.all([...holdings].map(end));
    },
  };
};
