import type { Context } from '../context.ts';
import { textOf } from '../core/part.ts';
import type { ArtifactView } from '../core/reads.ts';
import type { ArtifactReport } from '../core/task.ts';

export const appendArtifact = async (
  _: unknown,
  { input }: { input: ArtifactReport },
  { who, tasks, reads }: Context,
) => {
  const { key } = await tasks.appendArtifact(who(), input);
  return (await reads().artifacts(key)).find(({ artifactId }) => artifactId === input.artifactId);
};

export const idOfArtifact = ({ taskKey, artifactId }: ArtifactView): string =>
  Buffer.from(`${taskKey}/${artifactId}`).toString('base64url');

export const partsOfArtifact = (artifact: ArtifactView, _: unknown, { reads }: Context) =>
  reads().artifactParts(artifact);

export const textOfArtifact = async (artifact: ArtifactView, _: unknown, { reads }: Context) =>
  textOf({ parts: await reads().artifactParts(artifact) });
