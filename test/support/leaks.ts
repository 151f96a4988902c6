// Looks through an answer for what belongs to others.

/** All texts in it, as they are and, where a text may be base64, as what it says. */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') {
    const decoded = Buffer.from(value, 'base64url').toString();
    return /^[\w-]{8,}$/.test(value) && !decoded.includes('\ufffd') ? [value, decoded] : [value];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
};

/** The texts that hold the mark or an id of somebody else, apart from what the caller has said itself. */
export const leaksIn = (
  answer: unknown,
  { mark, ids, said = [] }: { mark: string; ids: Set<string>; said?: Iterable<string> },
): string[] => {
  const known = [...said].sort((one, other) => other.length - one.length);
  return textsIn(answer).filter((text) => {
    const rest = known.reduce((left, each) => (each ? left.replaceAll(each, '') : left), text).toLowerCase();
    const found: string[] = rest.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
    return rest.includes(mark) || found.some((id) => ids.has(id));
  });
};
