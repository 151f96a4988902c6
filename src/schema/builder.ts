import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import type { Context } from '../context.ts';
import type PrismaTypes from '../generated/pothos-types.ts';
import { getDatamodel } from '../generated/pothos-types.ts';

export const builder = new SchemaBuilder<{
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
}>({
  defaultFieldNullability: false,
  plugins: [PrismaPlugin],
  prisma: { client: (context) => context.prisma, dmmf: getDatamodel() },
});

builder.queryType({ description: 'What can be read.' });
