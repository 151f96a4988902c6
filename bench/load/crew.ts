import { type BareAgent, openAgent } from './agent.ts';
import { type Creator, openCreator } from './creator.ts';
import { openSubscriber, type Subscriber } from './subscriber.ts';
import type { Target } from './told.ts';

// Everybody around a hub: who asks, who works, who looks. Opened once; rounds say what they do.

export type Crew = {
  creator: Creator;
  /** As many as there are wanted, opened when they are. */
  subscribers(count: number): Promise<Subscriber[]>;
  /** The n-th task's agent and context. */
  order(n: number): { agent: string; context: string };
  /** Called when an agent is handed a task. */
  onTask: (task: string, agent: BareAgent, context: string) => void;
  /** What went wrong since it was last asked. */
  takeProblems(): string[];
  end(): void;
};

export const openCrew = async ({ url, key, agents, contexts }: Target): Promise<Crew> => {
  const looking: Subscriber[] = [];
  let problems: string[] = [];
  let isEnding = false;
  const crew: Crew = {
    creator: openCreator(url, key),
    async subscribers(count) {
      while (looking.length < count) looking.push(await openSubscriber(url, key));
      return looking.slice(0, count);
    },
    order: (n) => ({
      agent: agents[n % agents.length]?.name ?? '',
      context: contexts[n % contexts.length] ?? '',
    }),
    onTask: () => undefined,
    takeProblems() {
      const found = problems;
      problems = [];
      return found;
    },
    end() {
      isEnding = true;
      for (const each of [...working, ...looking, crew.creator]) each.end();
    },
  };
  const working = await Promise.all(
    agents.map(async (each) => {
      const agent: BareAgent = await openAgent({
        url,
        ...each,
        onTask: (task, context) => crew.onTask(task, agent, context),
        onProblem: (what) => !isEnding && problems.push(what),
      });
      return agent;
    }),
  );
  return crew;
};
