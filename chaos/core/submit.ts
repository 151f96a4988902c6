import { randomUUID } from 'node:crypto';
import type { Command } from '../../src/core/command.ts';
import { DomainError } from '../../src/core/domain-error.ts';
import type { Writer } from '../../src/core/writer.ts';
import { type Invoked, type Line, openLines } from './record.ts';
import { isFirstSentBy } from './script.ts';

export type Submit = Writer['submit'];

/** Commands that act in somebody's name carry the name of the deed, so that the log tells which deed it was. The same
 * message may be sent twice: follow-ups are known by its id. */
export const newOp = (): string => randomUUID();

/** Writes down each command before it is submitted, and its answer after. */
export const recordTo = (path: string, submit: Submit): Submit => {
  const recorder = openLines<Line>(path);
  const sent = new Set<string>();
  return async (command) => {
    const line = describe(command);
    const said = `${line.task} ${line.kind} ${line.text}`;
    const isOthers = line.text !== undefined && line.holder !== undefined && !isFirstSentBy(line.text, line.holder);
    if (line.text !== undefined && (sent.has(said) || isOthers)) line.isTwice = true;
    sent.add(said);
    const { op } = line;
    recorder.write(line);
    try {
      const answer = await submit(command);
      const { seq, state, delivery, holder } = answer.task;
      recorder.write({ at: 'ok', ms: Date.now(), op, seq, state, delivery, holder });
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
  ...('fence' in command && { delivery: command.fence.delivery, holder: command.fence.holder ?? '' }),
  ...('taker' in command && command.taker && { holder: command.taker.holder }),
  ...('delivery' in command && { delivery: command.delivery }),
  ...(command.kind === 'artifact' && { text: command.chunk.parts[0]?.text ?? '' }),
  ...(command.kind === 'followUp' && { text: command.message.id }),
  ...((command.kind === 'progress' || command.kind === 'ask') && { text: command.text ?? '' }),
});

const opOf = (command: Command): string => {
  if (command.kind !== 'followUp' && 'actor' in command) return command.actor;
  return command.kind === 'create' ? command.created.requester.name : newOp();
};
