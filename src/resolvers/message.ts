import type { Context } from '../context.ts';
import { encodeCursor } from '../core/page.ts';
import type { Post } from '../core/task.ts';

export const postMessage = async (_: unknown, { input }: { input: Post }, { who, tasks, reads }: Context) => {
  const { task, seq } = await tasks.postMessage(who(), input);
  const { edges } = await reads().messages(task, { first: 1, after: encodeCursor(seq - 1) });
  return edges[0]?.node;
};
