import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What V8 writes, as far as it is needed. */
export type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

type Hot = { name: string; at: string; selfUs: number };

/** Functions by the time they took themselves; those of the bundle where they stand in the sources. */
export const hottest = async ({
  nodes,
  samples,
  timeDeltas,
}: CpuProfile): Promise<{ functions: Hot[]; busyUs: number }> => {
  const spent = new Map<number, number>();
  for (const [index, id] of samples.entries()) spent.set(id, (spent.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  const maps = new Map<string, SourceMap | undefined>();
  const functions = new Map<string, Hot>();
  let busyUs = 0;
  for (const { id, callFrame } of nodes) {
    const selfUs = spent.get(id) ?? 0;
    if (selfUs === 0 || isIdle(callFrame.functionName)) continue;
    busyUs += selfUs;
    const { url } = callFrame;
    if (!maps.has(url)) maps.set(url, await mapOf(url));
    const name = callFrame.functionName || '(anonymous)';
    const at = placeOf(callFrame, maps.get(url));
    const found = functions.get(`${name} ${at}`) ?? { name, at, selfUs: 0 };
    found.selfUs += selfUs;
    functions.set(`${name} ${at}`, found);
  }
  return { functions: [...functions.values()].sort((one, other) => other.selfUs - one.selfUs), busyUs };
};

const isIdle = (name: string): boolean => name === '(idle)' || name === '(program)' || name === '(root)';

type Frame = CpuProfile['nodes'][number]['callFrame'];

const placeOf = ({ url, lineNumber, columnNumber }: Frame, map: SourceMap | undefined): string => {
  if (url === '') return '';
  const entry = map?.findEntry(lineNumber, columnNumber);
  if (entry && 'originalSource' in entry)
    return `${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}`;
  return `${url.replace(/^.*\/node_modules\//, '')}:${lineNumber + 1}`;
};

const mapOf = async (url: string): Promise<SourceMap | undefined> => {
  if (!url.startsWith('file:') || url.includes('/node_modules/')) return undefined;
  const text = await readFile(`${fileURLToPath(url)}.map`, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : new SourceMap(JSON.parse(text));
};
