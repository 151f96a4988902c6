import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { ActorOrders, Network, News, Order } from './world.ts';

// Agents and clients as processes. An agent that crashes on purpose, or is killed, comes back and remembers nothing.

type Actor = { name: string; network: Network; isAgent: boolean; child: ChildProcess; isExpected: boolean };
type Options = { networks: Network[]; urls: string[]; directory: string; random: Random };

const foreignPart = 0.15;

export const createActors = async ({ networks, urls, directory, random }: Options) => {
  const actors = new Map<string, Actor>();
  const crashes: string[] = [];
  const counts = { agentKills: 0, agentCrashes: 0 };
  let isOver = false;

  const start = async (name: string, network: Network, more: Pick<ActorOrders, 'user' | 'agent'>): Promise<void> => {
    const isAgent = more.agent !== undefined;
    const file = join(directory, `${network.name}-${name}.jsonl`);
    const { canary } = network;
    const orders = {
      file,
      seed: random.between(0, 2 ** 31),
      urls,
      canary,
      agents: network.agents.map((each) => each.name),
      ...more,
    };
    const program = new URL(isAgent ? 'agent.ts' : 'client.ts', import.meta.url);
    const child = fork(program, [JSON.stringify(orders satisfies ActorOrders)], { execArgv: ['--import=tsx'] });
    const actor: Actor = { name, network, isAgent, child, isExpected: false };
    actors.set(`${network.name} ${name}`, actor);
    child.on('message', (news: News) => {
      if (typeof news === 'object' && random.chance(foreignPart)) show(network, news.sent);
    });
    child.on('exit', (code, signal) => {
      const isCrash = isAgent && signal === 'SIGKILL' && lastLine(file).includes('"crash"');
      if (isCrash) counts.agentCrashes += 1;
      if (!isCrash && !actor.isExpected) crashes.push(`${network.name} ${name} ended by itself: ${signal ?? code}`);
      if (isAgent && !isOver) void start(name, network, more);
    });
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
  };

  /** Somebody of another network hears of a task. */
  const show = (network: Network, task: string): void => {
    const others = [...actors.values()].filter((each) => each.network !== network && each.child.connected);
    others[random.between(0, others.length - 1)]?.child.send({ foreign: task } satisfies Order, () => undefined);
  };
  const tell = (order: Order, toAgents: boolean): ChildProcess[] =>
    [...actors.values()].flatMap(({ isAgent, child }) => {
      if (isAgent !== toAgents || !child.connected) return [];
      child.send(order, () => undefined);
      return [child];
    });
  const endAll = (): void => {
    isOver = true;
    for (const { child } of actors.values()) child.kill('SIGKILL');
  };
  process.on('exit', endAll);
  await Promise.all(
    networks.flatMap((network) => network.agents.map((agent) => start(agent.name, network, { agent }))),
  );
  await Promise.all(networks.flatMap((network) => network.users.map((user) => start(user.name, network, { user }))));

  const finish = async (isAgents: boolean, withinMs: number): Promise<void> => {
    for (const actor of actors.values()) if (actor.isAgent === isAgents) actor.isExpected = true;
    const ended = tell('finish', isAgents).map((child) => (child.exitCode === null ? once(child, 'exit') : undefined));
    const inTime = await Promise.race([Promise.all(ended), sleep(withinMs, undefined, { ref: false })]);
    if (!inTime) crashes.push(`${isAgents ? 'Agents' : 'Clients'} did not end when told to`);
  };

  return {
    crashes,
    counts,
    quiesce: () => void tell('quiesce', false),
    killAgent() {
      const agents = [...actors.values()].filter(
        ({ isAgent, child }) => isAgent && child.exitCode === null && child.connected,
      );
      const victim = agents[random.between(0, agents.length - 1)];
      if (!victim || victim.isExpected) return;
      victim.isExpected = true;
      victim.child.kill('SIGKILL');
      counts.agentKills += 1;
    },
    /** Clients end when all that they follow is complete; then the agents. */
    async finish() {
      await finish(false, 40_000);
      isOver = true;
      await finish(true, 5_000);
      process.off('exit', endAll);
    },
    endAll,
  };
};

export type Actors = Awaited<ReturnType<typeof createActors>>;

const lastLine = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  } catch {
    return '';
  }
};
