import { randomUUID } from 'node:crypto';
import type { Command } from '../../src/core/command.ts';
import { DomainError } from '../../src/core/domain-error.ts';
import { createWriter } from '../../src/core/writer.ts';
import { createLog } from '../../src/log.ts';
import { openLogStore } from '../../src/store/log-store.ts';

// A writer in a process of its own. It is told commands and answers with the state they led to, or the code of the refusal.

const store = openLogStore({ url: process.argv[2] ?? '', log: createLog('silent'), defaultTtlSeconds: 3_600 });
const writer = createWriter({
  store,
  clock: () => ({ nowMs: Date.now(), newId: randomUUID, placeSeconds: 15, inputSeconds: 604_800 }),
  freshVersion: () => Math.floor(Math.random() * 2 ** 47),
  onCommit: () => undefined,
});

process.on('message', async ({ id, command }: { id: number; command: Command }) => {
  const outcome = await writer.submit(command).then(
    ({ task }) => ({ state: task.state, deliveryState: task.deliveryState, holder: task.holder }),
    (error) => ({ code: error instanceof DomainError ? error.code : String(error) }),
  );
  process.send?.({ id, outcome });
});
process.on('disconnect', async () => {
  await writer.stop();
  await store.close();
});
process.send?.('ready');
