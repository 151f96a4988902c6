import type { NetworkView } from '../core/reads.ts';
import { createNetwork } from '../resolvers/network.ts';
import { builder } from './builder.ts';

export const Network = builder.objectRef<NetworkView>('Network').implement({
  description: 'A tenant. Nothing crosses from one to another.',
  fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }),
});

const CreateNetworkPayload = builder
  .objectRef<{ network: NetworkView; key: string }>('CreateNetworkPayload')
  .implement({
    fields: (t) => ({
      network: t.expose('network', { type: Network }),
      key: t.exposeString('key', { description: 'The API key of the new network’s owner. Shown once.' }),
    }),
  });

builder.mutationFields((t) => ({
  createNetwork: t.field({
    type: CreateNetworkPayload,
    nullable: true,
    description: 'Makes a network with an owner of its own. For owners of the hub’s first network.',
    args: { name: t.arg.string({ required: true }) },
    resolve: createNetwork,
  }),
}));
