import type { Context } from '../context.ts';
import type { PageArgs } from '../core/page.ts';
import type { ContextView } from '../core/reads.ts';

export const contextById = (
  _: unknown,
  { id, user }: { id: string; user?: string | null | undefined },
  { reads }: Context,
) => reads().contextById(id, user);

export const contexts = (
  _: unknown,
  { search, ...page }: PageArgs & { search?: string | null | undefined },
  { reads }: Context,
) => reads().contexts(page, search);

export const tasksOfContext = ({ key }: ContextView, page: PageArgs, { reads }: Context) =>
  reads().tasks(page, {}, { context: key });
