import type { Message, Part } from './command.ts';
import { DomainError } from './domain-error.ts';
import type { EventLine } from './draft.ts';

// A part is text, data, a url or raw bytes: exactly one of them.

const contents = ['text', 'data', 'url', 'raw'] as const;
const mostParts = 100;
const mostBytes = 1_048_576; // of one message or chunk

/** Both doors bring parts in this shape; what is absent may be null. */
export type LoosePart = { [Field in keyof Part]?: Part[Field] | null | undefined };

/** `text` is the short form of one text part. */
export const readParts = (input: {
  text?: string | null | undefined;
  parts?: readonly LoosePart[] | null | undefined;
}): Part[] => {
  const { text, parts } = input;
  if (text != null && parts != null) throw new DomainError('BAD_INPUT', 'Give text or parts, not both');
  const read = text != null ? [{ text }] : (parts ?? []).map(readPart);
  if (read.length > mostParts)
    throw new DomainError('TOO_LARGE', `There are ${read.length} parts; at most ${mostParts} are taken`);
  const bytes = sizeOf(read);
  if (bytes > mostBytes)
    throw new DomainError('TOO_LARGE', `The parts have ${bytes} bytes; at most ${mostBytes} are taken`, {
      expected: mostBytes,
      actual: bytes,
    });
  return read;
};

const readPart = (part: LoosePart, index: number): Part => {
  const given = contents.filter((name) => part[name] != null);
  const [content] = given;
  if (given.length !== 1 || !content)
    throw new DomainError(
      'BAD_INPUT',
      `Part ${index + 1} needs exactly one of ${contents.join(', ')}; it has ${given.length}`,
    );
  const { filename, mediaType, metadata, raw } = part;
  if (raw != null && !isBase64(raw))
    throw new DomainError('BAD_INPUT', `Part ${index + 1} has raw bytes that are not base64`);
  return {
    [content]: part[content],
    ...(filename != null && { filename }),
    ...(mediaType != null && { mediaType }),
    ...(metadata != null && { metadata }),
  };
};

const isBase64 = (raw: string): boolean => raw.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(raw);

export const sizeOf = (parts: readonly Part[]): number =>
  parts.reduce(
    (sum, { text = '', raw = '', url = '', data, metadata }) =>
      sum + Buffer.byteLength(text) + raw.length + url.length + lengthOf(data) + lengthOf(metadata),
    0,
  );

/** About as much as a line of a log holds. */
export const bytesOf = ({ kind, payload }: EventLine): number => {
  if (kind === 'ARTIFACT') return sizeOf(payload.parts);
  if (kind === 'MESSAGE') return sizeOf(payload.message.parts);
  return kind === 'STATUS' ? (payload.text?.length ?? 0) : 0;
};

const lengthOf = (json: unknown): number => (json === undefined ? 0 : JSON.stringify(json).length);

export const nothingToSay = (): DomainError =>
  new DomainError('BAD_INPUT', 'Give text or parts: there is nothing to say');

export const textOf = ({ parts }: Pick<Message, 'parts'>): string => parts.flatMap(({ text }) => text ?? []).join('');
