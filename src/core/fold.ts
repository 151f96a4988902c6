import type { Command } from './command.ts';
import { type Clock, type Decision, decide } from './decide.ts';
import { DomainError } from './domain-error.ts';
import type { Hold, LaneHead, LoadHead, TaskHead } from './head.ts';
import type { Bringing, Group, LaneId } from './ports.ts';

// Decides commands in order, each on the heads that its predecessors left, and finds which of them stand or fall together.

export type KnownHeads = {
  task(key: string): TaskHead | undefined;
  /** A task that has the id already which this command brings. */
  rival(command: Bringing): TaskHead | undefined;
  /** Of a lane that does not exist, a fresh one. */
  lane(id: LaneId): { head: LaneHead; isFresh: boolean };
  load(agent: string): LoadHead;
  /** Undefined: nobody has looked. */
  available(account: string): bigint | undefined;
};

export type Folded<Item> = { group: Group; outcomes: { item: Item; decision: Decision }[] };

export const fold = <Item extends { command: Command }>(
  items: Item[],
  known: KnownHeads,
  clock: Clock,
): Folded<Item>[] => {
  const tasks = new Map<string, Group['tasks'][number]>();
  const lanes = new Map<string, Group['lanes'][number]>();
  const loads = new Map<string, Group['loads'][number]>();
  const together = createUnion();

  const outcomes = items.map((item) => {
    const { command } = item;
    const rival = bringsId(command) ? known.rival(command) : undefined;
    const task = tasks.get(command.task)?.head ?? known.task(command.task);
    const ids = lanesOf(command, task);
    const decided = ids.map((id) => lanes.get(laneKey(id)) ?? begin(known.lane(id)));
    const agent = loadOf(command, task);
    const load = agent === undefined ? undefined : (loads.get(agent) ?? beginLoad(known.load(agent)));
    const price = holdOf(command);
    const heads = {
      task,
      lanes: decided.map(({ head }) => head),
      load: load?.head,
      available: price ? known.available(price.account) : undefined,
    };
    const decision = rival ? taken(rival) : decide(heads, command, clock);
    for (const id of ids) together.join(command.task, laneKey(id));
    if (agent !== undefined) together.join(command.task, agent);
    if (decision.kind === 'changed') {
      const { draft } = decision;
      const before = tasks.get(command.task);
      if (before) {
        before.head = draft.task;
        before.drafts.push(draft);
      } else
        tasks.set(command.task, {
          expected: task?.seq,
          ...(command.kind === 'create' && { created: command.created }),
          head: draft.task,
          drafts: [draft],
        });
      draft.lanes.forEach((head, index) => {
        const { expected = head.version, isFresh = false } = decided[index] ?? {};
        lanes.set(laneKey(head), { expected, isFresh, head });
      });
      if (load && draft.load) loads.set(draft.load.agent, { ...load, head: draft.load });
    }
    return { item, decision };
  });

  const groups = new Map<string, Folded<Item>>();
  const groupOf = (member: string) => {
    const name = together.find(member);
    const found = groups.get(name) ?? { group: { tasks: [], lanes: [], loads: [] }, outcomes: [] };
    groups.set(name, found);
    return found;
  };
  for (const outcome of outcomes) groupOf(outcome.item.command.task).outcomes.push(outcome);
  for (const [key, task] of tasks) groupOf(key).group.tasks.push(task);
  for (const [key, lane] of lanes) groupOf(key).group.lanes.push(lane);
  for (const [agent, load] of loads) groupOf(agent).group.loads.push(load);
  return [...groups.values()];
};

/** The lanes a command looks at. Reports that only add lines need none: a busy lane does not tie its tasks together. */
export const lanesOf = (command: Command, task: TaskHead | undefined): LaneId[] => {
  switch (command.kind) {
    case 'create':
      return [{ agent: command.created.executor.id, context: command.created.context }];
    case 'acknowledge':
    case 'progress':
    case 'artifact':
    case 'say':
    case 'resume':
    case 'lose':
      return [];
    case 'release':
      return task ? [{ agent: command.agent, context: task.context }] : [];
    case 'reassign': {
      if (!task) return [];
      const from = { agent: task.executor.id, context: task.context };
      return command.executor.id === from.agent ? [from] : [from, { ...from, agent: command.executor.id }];
    }
    default:
      return task ? [{ agent: task.executor.id, context: task.context }] : [];
  }
};

/** The agent whose load a command looks at: only who takes for an agent with a capacity ties others to it. */
export const loadOf = (command: Command, task: TaskHead | undefined): string | undefined => {
  const executor =
    command.kind === 'create' && command.taker
      ? command.created.executor
      : command.kind === 'take'
        ? task?.executor
        : undefined;
  return executor && executor.capacity !== null ? executor.id : undefined;
};

export const holdOf = (command: Command): Hold | null => {
  if (command.kind === 'create') return command.created.hold;
  return (command.kind === 'retry' || command.kind === 'reassign') && command.hold ? command.hold : null;
};

export const bringsId = (command: Command): command is Bringing =>
  'message' in command && command.message !== undefined;

const taken = ({ id, state }: TaskHead): Decision => ({
  kind: 'refused',
  error: new DomainError('IDEMPOTENCY_CONFLICT', `Task ${id} has this id already`, { taskId: id, state }),
});

export const laneKey = ({ agent, context }: LaneId): string => `${agent}/${context}`;

const beginLoad = (head: LoadHead) => ({ expected: head.version, head });

const begin = ({ head, isFresh }: { head: LaneHead; isFresh: boolean }) => ({ expected: head.version, isFresh, head });

const createUnion = () => {
  const parents = new Map<string, string>();
  const find = (member: string): string => {
    const parent = parents.get(member) ?? member;
    return parent === member ? member : find(parent);
  };
  const join = (one: string, other: string): void => {
    const [root, branch] = [find(one), find(other)];
    if (root !== branch) parents.set(branch, root);
  };
  return { find, join };
};
