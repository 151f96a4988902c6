/** Median, least and most of the rounds that have a number. */
export type Spread = { median: number; min: number; max: number; rounds: number };

export const spread = (values: (number | undefined)[]): Spread | undefined => {
  const sorted = values.filter((value) => value !== undefined && Number.isFinite(value)).sort((a = 0, b = 0) => a - b);
  const [lower, upper] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (lower === undefined || upper === undefined || min === undefined || max === undefined) return undefined;
  return { median: (lower + upper) / 2, min, max, rounds: sorted.length };
};

/** Round by round, because the machine is another one half a minute later. */
export const ratios = (ours: (number | undefined)[], theirs: (number | undefined)[]): Spread | undefined =>
  spread(ours.map((our, round) => ratio(our, theirs[round])));

const ratio = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || !other ? undefined : one / other;

/** The value that this share of the others does not exceed. */
export const percentile = (values: number[], share: number): number | undefined =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)];
