import { randomUUID } from 'node:crypto';
import type { Command } from '../../src/core/command.ts';
import { DomainError } from '../../src/core/domain-error.ts';
import type { Writer } from '../../src/core/writer.ts';
import { type Invoked, openRecorder } from './record.ts';

export type Submit = Writer['submit'];

/** Commands that act in somebody's name carry the name of the deed, so that the log tells which deed it was. */
export const newOp = (): string => randomUUID();

/** Writes down each command before it is submitted, and its answer after. */
export const recordTo = (path: string, submit: Submit): Submit => {
  const recorder = openRecorder(path);
  const sent = new Set<string>();
  return async (command) => {
    const line = describe(command);
    const said = `${line.task} ${line.kind} ${line.text}`;
    if (line.text !== undefined && sent.has(said)) line.isTwice = true;
    sent.add(said);
    const { op } = line;
    recorder.write(line);
    try {
      const answer = await submit(command);
      const { seq, state, delivery } = answer.task;
      recorder.write({ at: 'ok', ms: Date.now(), op, seq, state, delivery });
      return answer;
    } catch (error) {
      if (error instanceof DomainError) {
        const { state } = error.facts;
        recorder.write({ at: 'fail', ms: Date.now(), op, code: error.code, ...(state !== undefined && { state }) });
      } else recorder.write({ at: 'error', ms: Date.now(), op, message: String(error) });
      throw error;
    }
  };
};

const describe = (command: Command): Invoked => ({
  at: 'invoke',
  ms: Date.now(),
  op: opOf(command),
  kind: command.kind,
  task: command.task,
  ...('fence' in command && { delivery: command.fence.delivery }),
  ...('delivery' in command && { delivery: command.delivery }),
  ...(command.kind === 'artifact' && { text: command.chunk.parts[0]?.text ?? '' }),
  ...(command.kind === 'progress' && { text: command.text ?? '' }),
});

const opOf = (command: Command): string => {
  if ('actor' in command) return command.actor;
  return command.kind === 'create' ? command.created.requester.name : newOp();
};
