import { type Actor, asUser } from './actor.ts';
import { createApiKey, fingerprint } from './api-key.ts';
import { DomainError } from './domain-error.ts';

// Networks are tenants. The first one is the hub's own; its owners make the others.

export type Networks = { create(actor: Actor, name: string): Promise<{ id: string; key: string }> };

export type NetworkStore = {
  findFirst(): Promise<{ id: string }>;
  /** With an owner of its own, and the owner's key. */
  create(network: { name: string; prefix: string; hash: Uint8Array<ArrayBuffer> }): Promise<{ id: string }>;
};

export const createNetworks = (store: NetworkStore): Networks => ({
  async create(actor, name) {
    const owner = asUser(actor, 'OWNER');
    if (owner.network !== (await store.findFirst()).id)
      throw new DomainError('FORBIDDEN', 'Networks are made by an owner of the hub’s first network');
    if (!/^\P{C}{1,128}$/u.test(name))
      throw new DomainError('BAD_INPUT', 'A network’s name has 1 to 128 printable characters');
    const key = createApiKey();
    const { id } = await store.create({ name, ...fingerprint(key) });
    return { id, key };
  },
});
