import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCaller } from '../support/caller.ts';
import { useDatabase } from '../support/database.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { openPausable } from '../support/pausable.ts';
import { built } from '../support/program.ts';
import { transports } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { chunk, completed, connectWorker, takeTask } from '../support/worker.ts';

// 160 MB pass by subscribers that do not read, through a hub that has room for less. Kept for one of them, or for all of
// them together, they would end it; sent into sockets that nobody reads they would show in its size.

const database = useDatabase();
const events = 10_000;
const text = 'once upon a time '.repeat(964); // 16 KiB
const megabyte = 1_048_576;
const heapMegabytes = 112;
const [program = '', main = ''] = built();

const residentOf = (hub: Hub): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(hub.process.pid)])) * 1_024;
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test.each(transports)(
  'over %s subscribers that stop reading cost the hub little and others nothing, and then get everything',
  async (transport) => {
    const key = `test-key-${randomUUID()}`;
    const hub = await startHub({
      command: [program, `--max-old-space-size=${heapMegabytes}`, main],
      env: { DATABASE_URL: database.url, BATON_ADMIN_KEY: key },
    });
    const caller = createCaller(hub.url, key);
    const agent = await caller.registerAgent();
    const { id: taskId } = await caller.send({ agent: agent.name, text: 'write' });
    const worker = await connectWorker(hub.url, agent);
    const taken = await takeTask(worker, taskId);
    const write = async (count: number) => {
      for (let written = 0; written < count; written += 100)
        await Promise.all(numbers(1, 100).map(() => worker.request('task.artifact', chunk(taken, text))));
    };

    const open = () => openPausable(transport, { url: hub.url, key, taskId });
    const [reader, ...stalled] = [await open(), ...(await Promise.all(numbers(1, 3).map(open)))];
    for (const { seqs } of [reader, ...stalled]) await until(() => seqs.length >= 5, 'the beginning');
    for (const each of stalled) each.pause();
    await write(1_000); // the hub is warm, and the sockets are full
    await until(() => reader.seqs.length >= 1_007, 'the reader to follow');
    const seen = stalled.map(({ seqs }) => seqs.length);
    const before = residentOf(hub);
    await write(events - 1_000);
    await until(() => reader.seqs.length >= events + 7, 'the reader to follow');
    const grown = residentOf(hub) - before;
    expect(stalled.map(({ seqs }) => seqs.length)).toEqual(seen); // they were really not reading
    expect(grown).toBeLessThan(100 * megabyte); // of 144 for one, and 432 for all of them

    for (const each of stalled) each.resume();
    await worker.request('task.complete', completed(taken));
    const died = hub.ended.then(() => Promise.reject(new Error(`The hub ended: ${hub.stderr().slice(-500)}`)));
    died.catch(() => undefined); // it is meant to end later
    for (const each of [reader, ...stalled]) {
      await Promise.race([each.completed, died]);
      expect(each.seqs).toEqual(numbers(1, events + 9));
    }
    worker.socket.terminate();
    hub.kill('SIGTERM');
    expect(await hub.ended).toEqual({ code: 0, signal: null });
  },
  240_000,
);
