/** About 20 bytes, and its place in the stream first, so that order can be checked. */
export const chunkText = (n: number): string => `${String(n).padStart(6, '0')} and some words`;

const marker = Buffer.from('"text":"');

/** The place of the chunk that a message carries, found without reading the message. Undefined: it carries none. */
export const placeIn = (message: Buffer): number | undefined => {
  const at = message.indexOf(marker);
  if (at < 0) return undefined;
  let place = 0;
  for (let index = at + marker.length; index < at + marker.length + 6; index++) {
    const digit = (message[index] ?? 0) - 48;
    if (digit < 0 || digit > 9) return undefined;
    place = place * 10 + digit;
  }
  return place;
};
