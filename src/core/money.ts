// Amounts are whole millionths of a dollar; on every wire they are decimal strings with six places.

export const formatMicros = (micros: bigint): string => {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
};

/** Undefined: not an amount with at most six places. */
export const parseMicros = (amount: string): bigint | undefined => {
  const [, sign, whole = '', fraction = ''] = amount.match(/^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/) ?? [];
  if (sign === undefined) return undefined;
  const micros = BigInt(whole + fraction.padEnd(6, '0'));
  return sign ? -micros : micros;
};
