import { randomUUID } from 'node:crypto';
import type { Command } from '../../src/core/command.ts';
import type { Clock } from '../../src/core/decide.ts';
import type { Ground } from '../ground.ts';

// A task's life as the hub submits it: asked for by a user, taken at once by an agent that is connected here.

export type Holder = { holder: string; instance: string };
type Life = {
  key: string;
  create: Command;
  acknowledge: Command;
  chunk(n: number, text: string): Command;
  complete(n: number): Command;
};

export const benchClock = (): Clock => ({
  nowMs: Date.now(),
  newId: randomUUID,
  placeSeconds: 15,
  inputSeconds: 604_800,
});

export const benchTask = (options: { ground: Ground; holder: Holder; context: string }): Life => {
  const { ground, holder, context } = options;
  const { network, user, agent } = ground;
  const key = randomUUID();
  return { key, create: createCommand(), ...benchReports(key, { agent, delivery: 1, holder: holder.holder }) };

  function createCommand(): Command {
    return {
      kind: 'create',
      task: key,
      created: {
        key,
        id: key,
        network,
        context,
        contextId: context,
        root: key,
        parent: null,
        depth: 0,
        user,
        requester: { id: user, isAgent: false, name: 'ada' },
        executor: {
          id: agent,
          name: 'echo',
          isAsync: false,
          whenLost: 'FAIL',
          maxAttempts: 3,
          graceSeconds: 30,
          turnSeconds: 1_800,
          capacity: null,
        },
        skill: null,
        priority: 'NORMAL',
        ttlSeconds: null,
        timeoutSeconds: null,
        hold: null,
        metadata: {},
      },
      message: {
        id: randomUUID(),
        author: 'USER',
        authorName: 'ada',
        kind: 'TASK',
        parts: [{ text: 'hello' }],
        inReplyTo: null,
        metadata: {},
      },
      taker: holder,
    };
  }
};

type Fence = { agent: string; delivery: number; holder: string };

export const benchReports = (task: string, fence: Fence): Omit<Life, 'key' | 'create'> => ({
  acknowledge: { kind: 'acknowledge', task, fence },
  chunk: (n, text) => ({
    kind: 'artifact',
    task,
    fence,
    n,
    chunk: { artifactId: 'a', parts: [{ text }], append: true, lastChunk: false },
  }),
  complete: (n) => ({ kind: 'complete', task, fence, n }),
});
