import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import RelayPlugin from '@pothos/plugin-relay';
import type { Context } from '../context.ts';
import type { Counted } from '../core/reads.ts';
import { costOf } from './cost.ts';

export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Connection: Pick<Counted<unknown>, 'count'>;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    Decimal: { Input: string; Output: string };
  };
}>({
  defaultFieldNullability: false,
  plugins: [RelayPlugin, ComplexityPlugin],
  complexity: { disabled: true, fieldComplexity: costOf }, // measured before anything runs: graphql/limits.ts
  relay: {
    cursorType: 'String',
    edgesFieldOptions: { nullable: false },
    nodeFieldOptions: { nullable: false },
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    firstArgOptions: { description: 'How many from the beginning, at most 100; 20 if nothing is said.' },
    lastArgOptions: { description: 'How many from the end, at most 100.' },
    afterArgOptions: { description: 'Only what comes after this cursor.' },
    beforeArgOptions: { description: 'Only what comes before this cursor.' },
  },
});

builder.queryType({ description: 'What can be read.' });
builder.mutationType({
  description:
    'What can be done. A refusal is an error with a stable code in its extensions; the answers of other fields stay whole.',
});
builder.subscriptionType({ description: 'What can be followed.' });

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    nullable: true,
    description: 'How many there are in all. Counted only when asked for; null where nobody counts.',
    resolve: ({ count }) => count?.() ?? null,
  }),
);
