import { randomUUID } from 'node:crypto';
import { startStopwatch } from '../writer/stopwatch.ts';
import { placeIn } from './chunk.ts';
import { type Http, openHttp } from './http.ts';
import type { LifecyclePlan, Load, Target, Telling, Written } from './told.ts';

// The same load for a server of the A2A SDK: a streaming request makes the task, and its answer is the subscription.

export const openA2aLoad = ({ url, contexts }: Target): Load => {
  const http = openHttp(url);
  let begun = 0;
  return {
    async round(plan, tell) {
      if (plan.kind !== 'lifecycle') throw new Error(`The A2A SDK takes no part in ${plan.kind}`);
      const next = (): string => contexts[begun++ % contexts.length] ?? '';
      return { written: await runRound({ http, plan, tell, next }), problems: [] };
    },
    end: http.end,
  };
};

type Round = { http: Http; plan: LifecyclePlan; tell: Telling; next: () => string };

const runRound = async ({ http, plan, tell, next }: Round): Promise<Written> => {
  const { chunksPerTask, inFlight, lastBeginMs } = plan;
  const written: Written = [];
  let chunks = 0;
  tell.ready();
  const watch = startStopwatch();
  const work = async (): Promise<void> => {
    do {
      const got = await follow(http, { context: next(), chunksPerTask, onChunk: () => (chunks += 1) });
      if (got.chunks !== chunksPerTask) throw new Error(`${got.key}: ${got.chunks} chunks came of ${chunksPerTask}`);
      written.push(got);
    } while (watch.elapsedMs() < lastBeginMs);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  tell.measured({ ...watch.read(), chunks, tasks: written.length });
  return written;
};

type Following = { context: string; chunksPerTask: number; onChunk: () => void };

const follow = async (http: Http, { context, chunksPerTask, onChunk }: Following): Promise<Written[number]> => {
  const message = {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text: 'hello' }],
    metadata: { chunks: chunksPerTask },
    contextId: context,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } });
  const answer = await http.post('/', body, { 'a2a-version': '1.0', accept: 'text/event-stream' });
  let rest: Buffer = Buffer.alloc(0);
  let [seen, key] = [0, ''];
  for await (const piece of answer as AsyncIterable<Buffer>) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    let at = 0;
    for (let end = bytes.indexOf('\n\n'); end >= 0; end = bytes.indexOf('\n\n', at)) {
      const event = bytes.subarray(at, end);
      at = end + 2;
      const place = placeIn(event);
      if (place === undefined) {
        if (event.includes('"error"')) throw new Error(event.toString());
        if (key === '') key = /"id":"([^"]+)"/.exec(event.toString())?.[1] ?? '';
      } else if (place !== seen + 1) throw new Error(`Chunk ${place} came after chunk ${seen}`);
      else {
        seen = place;
        onChunk();
      }
    }
    rest = bytes.subarray(at);
  }
  if (key === '') throw new Error(`No task came: ${answer.statusCode} ${rest.toString()}`);
  return { key, chunks: seen };
};
