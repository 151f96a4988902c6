import type { ArtifactView } from '../core/reads.ts';
import { appendArtifact, idOfArtifact, partsOfArtifact, textOfArtifact } from '../resolvers/artifact.ts';
import { builder } from './builder.ts';
import { Part, PartInput } from './part.ts';

export const Artifact = builder.objectRef<ArtifactView>('Artifact').implement({
  description: 'A result, possibly streamed in chunks.',
  fields: (t) => ({
    id: t.id({ resolve: idOfArtifact }),
    artifactId: t.exposeString('artifactId', { description: 'What the agent calls it; unique in its task.' }),
    name: t.exposeString('name', { nullable: true }),
    description: t.exposeString('description', { nullable: true }),
    parts: t.field({ type: [Part], description: 'The chunks put together.', resolve: partsOfArtifact }),
    text: t.string({ description: 'The text of all parts.', resolve: textOfArtifact }),
    size: t.exposeInt('size', { description: 'In bytes.' }),
    complete: t.exposeBoolean('complete', { description: 'The last chunk has come.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
});

const AppendArtifactInput = builder.inputType('AppendArtifactInput', {
  fields: (t) => ({
    taskId: t.id({ required: true }),
    delivery: t.int({ required: true, description: 'The number of your delivery.' }),
    n: t.int({ description: 'Counts the delivery’s reports from 1: a repeated one is answered and not stored again.' }),
    artifactId: t.string({ required: true }),
    name: t.string(),
    description: t.string(),
    text: t.string(),
    parts: t.field({ type: [PartInput] }),
    append: t.boolean({ defaultValue: false, description: 'Add to the artifact instead of replacing it.' }),
    lastChunk: t.boolean({ defaultValue: false }),
  }),
});

builder.mutationFields((t) => ({
  appendArtifact: t.field({
    type: Artifact,
    nullable: true,
    description: 'An agent streams a result.',
    args: { input: t.arg({ type: AppendArtifactInput, required: true }) },
    resolve: appendArtifact,
  }),
}));
