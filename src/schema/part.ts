import type { Part as PartShape } from '../core/command.ts';
import { builder } from './builder.ts';

export const Part = builder.objectRef<PartShape>('Part').implement({
  description: 'A piece of a message or artifact: text, data, a url or raw bytes.',
  fields: (t) => ({
    text: t.exposeString('text', { nullable: true }),
    data: t.field({ type: 'JSON', nullable: true, resolve: ({ data }) => data }),
    url: t.exposeString('url', { nullable: true }),
    raw: t.exposeString('raw', { nullable: true, description: 'Bytes in base64.' }),
    filename: t.exposeString('filename', { nullable: true }),
    mediaType: t.exposeString('mediaType', { nullable: true }),
    metadata: t.field({ type: 'JSON', nullable: true, resolve: ({ metadata }) => metadata }),
  }),
});

export const PartInput = builder.inputType('PartInput', {
  description: 'Exactly one of text, data, url and raw.',
  fields: (t) => ({
    text: t.string(),
    data: t.field({ type: 'JSON' }),
    url: t.string(),
    raw: t.string({ description: 'Bytes in base64.' }),
    filename: t.string(),
    mediaType: t.string(),
    metadata: t.field({ type: 'JSON' }),
  }),
});
