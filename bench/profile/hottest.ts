import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What V8 writes, as far as it is needed. */
export type CpuProfile = {
  nodes: {
    id: number;
    children?: number[];
    callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  }[];
  samples: number[];
  timeDeltas: number[];
};

/** Self time by where the code lives. What Node does itself counts for who called it. */
export const byRoom = async (profile: CpuProfile): Promise<{ room: string; selfUs: number }[]> => {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const spent = new Map<number, number>();
  for (const [index, id] of profile.samples.entries())
    spent.set(id, (spent.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  const maps = new Map<string, SourceMap | undefined>();
  const rooms = new Map<string, number>();
  for (const [id, selfUs] of spent) {
    let node = nodes.get(id);
    if (!node || isIdle(node.callFrame.functionName)) continue;
    const isGarbage = node.callFrame.functionName === '(garbage collector)';
    while (node && !node.callFrame.url.startsWith('file:')) node = nodes.get(parents.get(node.id) ?? -1);
    const url = node?.callFrame.url ?? '';
    if (!maps.has(url)) maps.set(url, await mapOf(url));
    const room = isGarbage
      ? 'garbage collection'
      : node
        ? roomOf(placeOf(node.callFrame, maps.get(url)))
        : 'Node itself';
    rooms.set(room, (rooms.get(room) ?? 0) + selfUs);
  }
  return [...rooms].map(([room, selfUs]) => ({ room, selfUs })).sort((one, other) => other.selfUs - one.selfUs);
};

const roomOf = (place: string): string =>
  /^src\/[^/]+/.exec(place)?.[0] ?? /^(@[^/]+\/)?[^/:]+/.exec(place)?.[0] ?? place;

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
