import type { Context } from '../context.ts';

export const version = (_: unknown, __: unknown, { version }: Context): string => version;
