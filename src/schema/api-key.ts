import type { ApiKeyView } from '../core/reads.ts';
import { createApiKey, revokeApiKey } from '../resolvers/api-key.ts';
import { builder } from './builder.ts';

const ApiKey = builder.objectRef<ApiKeyView>('ApiKey').implement({
  description: 'A user’s key. Only its hash is kept.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    prefix: t.exposeString('prefix', { description: 'The beginning of the key, to recognise it by.' }),
    scopes: t.exposeStringList('scopes', { description: 'What the key is bound to; empty: all that its user may.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
  }),
});

const CreateApiKeyPayload = builder.objectRef<{ apiKey: ApiKeyView; key: string }>('CreateApiKeyPayload').implement({
  fields: (t) => ({
    apiKey: t.expose('apiKey', { type: ApiKey }),
    key: t.exposeString('key', { description: 'Shown once.' }),
  }),
});

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  fields: (t) => ({
    userId: t.id({ description: 'Whose key; absent: your own.' }),
    name: t.string({ required: true }),
    scopes: t.stringList({ description: '`read`, `write`; absent: all that the user may.' }),
    expiresAt: t.field({ type: 'DateTime' }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: CreateApiKeyPayload,
    nullable: true,
    description: 'Makes a key. For admins.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true }) },
    resolve: createApiKey,
  }),
  revokeApiKey: t.id({
    nullable: true,
    description: 'The key opens no door any more, and open connections that used it end within seconds.',
    args: { id: t.arg.id({ required: true }) },
    resolve: revokeApiKey,
  }),
}));
