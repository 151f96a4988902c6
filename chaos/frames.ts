/** Bytes that belong together: a frame of a WebSocket, or whatever arrived when it is none. */
export type Unit = { bytes: Buffer; isText: boolean };

const endOfHead = Buffer.from('\r\n\r\n');

/** Cuts what an agent sends into its frames (RFC 6455, 5.2), which are whole in themselves. Others' bytes go as they come. */
export const createFrames = () => {
  let head: Buffer | undefined = Buffer.alloc(0); // undefined: it is over
  let rest = Buffer.alloc(0);
  let isAgent = false;

  const read = (data: Buffer): Unit[] => {
    if (head !== undefined) {
      head = Buffer.concat([head, data]);
      isAgent = head.subarray(0, 9).toString() === 'GET /hub ';
      const end = head.indexOf(endOfHead);
      const opened =
        end < 0 || !isAgent ? data : data.subarray(0, data.length - (head.length - end - endOfHead.length));
      const after = data.subarray(opened.length);
      if (end >= 0 || !isAgent) head = undefined;
      return [{ bytes: opened, isText: false }, ...(after.length > 0 ? read(after) : [])];
    }
    if (!isAgent) return [{ bytes: data, isText: false }];
    rest = Buffer.concat([rest, data]);
    const units: Unit[] = [];
    for (let size = sizeOf(rest); size !== undefined && size <= rest.length; size = sizeOf(rest)) {
      const bytes = rest.subarray(0, size);
      units.push({ bytes, isText: (bytes[0] ?? 0) === 0x81 }); // the last part of a text, and its first
      rest = rest.subarray(size);
    }
    return units;
  };
  return { read, isAgent: () => isAgent };
};

/** Undefined: too little of it has come. */
const sizeOf = (bytes: Buffer): number | undefined => {
  if (bytes.length < 2) return undefined;
  const [, second = 0] = bytes;
  const mask = second & 0x80 ? 4 : 0;
  const short = second & 0x7f;
  if (short < 126) return 2 + mask + short;
  if (short === 126) return bytes.length < 4 ? undefined : 4 + mask + bytes.readUInt16BE(2);
  return bytes.length < 10 ? undefined : 10 + mask + Number(bytes.readBigUInt64BE(2));
};
