import type { Assignment } from './assignment.ts';
import type { Command, Taker } from './command.ts';
import type { DeadlineKind } from './draft.ts';
import type { TaskHead } from './head.ts';
import type { Log } from './log.ts';
import type { Writer } from './writer.ts';

// Brings work to the agents that are connected here, and acts on what falls due. Every instance runs all of it at once:
// whoever is first commits, the compare-and-set of the writer decides, and who comes second finds nothing to do.

/** The agents' side: the hub, or whoever else hands work over. */
export type AgentSide = {
  /** The agents that have a free place here. */
  ready(): string[];
  /** A place at one of the agent's connections, until it is used or given back. */
  reserve(agent: string): Taker | undefined;
  giveBack(taker: Taker): void;
  /** The delivery is the connection's now, in the place that was reserved. */
  handOver(taker: Taker, assignment: Assignment): void;
};

export type QueueStore = {
  /** The first in line of lanes whose place is free, by rank. */
  readReady(agents: string[], limit: number): Promise<{ agent: string; task: string }[]>;
  readAssignments(tasks: TaskHead[]): Promise<Assignment[]>;
  readDue(limit: number): Promise<{ task: string; kind: DeadlineKind; delivery: number; agent: string }[]>;
  /** This instance lives, by the database's clock. Returns how many others do. */
  renew(instance: string, seconds: number): Promise<number>;
  /** Deliveries whose instance is overdue. */
  readOrphans(limit: number): Promise<{ task: string; delivery: number; holder: string }[]>;
  /** Instances that are overdue and have nothing left. */
  buryInstances(): Promise<void>;
};

export type Dispatcher = {
  /** Hands out what is ready. Called after a wake-up, and every second. */
  dispatch(): Promise<void>;
  /** Renews the lease, and acts on deadlines and on instances that died. Called every second. Returns how many others live. */
  patrol(): Promise<number>;
};

type Options = {
  writer: Writer;
  queue: QueueStore;
  agents: AgentSide;
  instance: string;
  leaseSeconds: number;
  log: Log;
};

type Taken = { taker: Taker; head: TaskHead };

const page = 256;

export const createDispatcher = ({ writer, queue, agents, instance, leaseSeconds, log }: Options): Dispatcher => {
  const submit = (command: Command): Promise<TaskHead | undefined> =>
    writer.submit(command).then(
      ({ task }) => task,
      (error) => {
        log.warn({ err: error, kind: command.kind, task: command.task }, 'A command of the dispatcher was refused');
        return undefined;
      },
    );

  const dispatch = async (): Promise<void> => {
    const wanting = agents.ready();
    if (wanting.length === 0) return;
    const ready = await queue.readReady(wanting, page);
    const taken = await Promise.all(ready.map(({ agent, task }) => take(agent, task)));
    await handOver(taken.filter((each) => each !== undefined));
  };

  const take = async (agent: string, task: string): Promise<Taken | undefined> => {
    const taker = agents.reserve(agent);
    if (!taker) return undefined;
    const head = await submit({ kind: 'take', task, agent, taker });
    if (head?.holder === taker.holder && head.deliveryState === 'DELIVERED') return { taker, head };
    agents.giveBack(taker);
    return undefined;
  };

  const handOver = async (taken: Taken[]): Promise<void> => {
    if (taken.length === 0) return;
    try {
      const assignments = await queue.readAssignments(taken.map(({ head }) => head));
      const byTask = new Map(assignments.map((assignment) => [assignment.task.key, assignment]));
      for (const { taker, head } of taken) {
        const assignment = byTask.get(head.key);
        if (assignment) agents.handOver(taker, assignment);
        else agents.giveBack(taker);
      }
    } catch (error) {
      // The agents never heard of them: they are lost, and will be handed over again.
      for (const { taker, head } of taken) {
        agents.giveBack(taker);
        await submit({ kind: 'lose', task: head.key, delivery: head.delivery, holder: taker.holder });
      }
      throw error;
    }
  };

  const patrol = async (): Promise<number> => {
    const others = await queue.renew(instance, leaseSeconds);
    for (const orphan of await queue.readOrphans(page)) await submit({ kind: 'lose', ...orphan });
    await queue.buryInstances();
    const due = await queue.readDue(page);
    await Promise.all(due.map(({ kind, ...delivery }) => submit({ kind: whenDue[kind], ...delivery })));
    return others;
  };

  return { dispatch, patrol };
};

const whenDue = {
  TTL: 'expire',
  TURN: 'timeOut',
  INPUT: 'giveUp',
  GRACE: 'requeue',
  PLACE: 'release',
} as const satisfies Record<DeadlineKind, Command['kind']>;
