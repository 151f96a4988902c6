import type { Spread } from './statistics.ts';

/** Columns as wide as they must be; the first to the left, numbers to the right. */
export const formatTable = (head: string[], rows: string[][]): string => {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
};

export const formatSpread = (value: Spread | undefined): string =>
  value ? `${formatNumber(value.median)} (${formatNumber(value.min)}–${formatNumber(value.max)})` : 'no number';

export const formatNumber = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(value >= 10 ? 3 : 2);
