import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Reader } from '../patient-client.ts';

// Known bugs, put into a copy of the built hub. Each change has to find its place in the text, so that a bug cannot silently
// not be there. (A flush that compares no versions is not among them: the key of the events refuses what it would do.)

type Change = [right: RegExp, wrong: string];

export const bugs = [
  'no-fence',
  'no-holder',
  'seq-gap',
  'stream-gap',
  'wake-up-as-truth',
  'close-fails',
  'tenant-forgotten',
  'after-final',
  'number-ignored',
  'repeat-ignored',
  'two-at-once',
  'not-durable',
] as const;
export type Bug = (typeof bugs)[number];

const program = 'dist/main.js';

/** Returns the hub to start, and how to remove what was made for it. */
export const breakProgram = (bug: Bug | undefined): { program: string; remove(): void } => {
  const changes = bug && inProgram[bug];
  if (!changes) return { program, remove: () => undefined };
  const copy = `dist/main.${bug}.${process.pid}.js`;
  writeFileSync(copy, changed(readFileSync(program, 'utf8'), { bug, changes }));
  return { program: copy, remove: () => rmSync(copy, { force: true }) };
};

/** not-durable loses only what was committed in the last moments before a crash: these are made longer. */
export const breakDatabase = async (client: Reader, bug: Bug | undefined): Promise<void> => {
  if (bug !== 'not-durable') return;
  await client.query(`alter system set wal_writer_delay = '10s'`);
  await client.query('select pg_reload_conf()');
};

const changed = (text: string, { bug, changes }: { bug: Bug; changes: Change[] }): string =>
  changes.reduce((before, [right, wrong]) => {
    if (!right.test(before)) throw new Error(`The hub no longer says ${right}: write the bug ${bug} anew`);
    return before.replace(right, wrong);
  }, text);

const fence = /if \(fence\.delivery !== task\.delivery \|\| isOthers\) throw stale/;
const endDelivery = 'endDelivery(draft, name, { outcome: { outcome: to }, keepsPlace: false }, clock);';

const inProgram: Partial<Record<Bug, Change[]>> = {
  'no-fence': [[fence, 'if (false) throw stale']],
  'no-holder': [[fence, 'if (fence.delivery !== task.delivery) throw stale']],
  'seq-gap': [[/draft\.task\.seq \+= 1;/, 'draft.task.seq += Math.random() < 0.002 ? 2 : 1;']],
  'stream-gap': [[/queue\[0\]\?\.seq === cursor \+ 1/, 'queue[0]']],
  // Only the bell counts: who does not hear it looks no more.
  'wake-up-as-truth': [[/news: watchers\d*\.poll/, 'news: async () => {}']],
  'close-fails': [
    [/var lose = \(draft, \{ delivery, holder \}\) =>/, 'var lose = (draft, { delivery, holder }, clock) =>'],
    [/hold\d*\(draft, null, null, "connection lost"\);/, 'return lost(draft, "AGENT_LOST", clock);'],
  ],
  'tenant-forgotten': [
    [/(from task t where t\.id = \$3) and \$\{scope\.task\}/, '$1 and $$1::uuid is not null and $$2::uuid is not null'],
  ],
  'after-final': [
    [/endDelivery\(draft, name, \{ outcome: \{ outcome: to \}, keepsPlace: false \}, clock\);/, ''],
    [/(move\(draft, name, to, \{ \.\.\.report\.reason .*)/, `$1 ${endDelivery}`],
  ],
  'number-ignored': [[/if \(n <= task\.lastN\) return nothing;/, '']],
  'repeat-ignored': [[/if \(repeat\) return repeat;/g, '']],
  'two-at-once': [
    [/ \|\| lane\.running !== null \|\| /, ' || '],
    [/running is null and head is not null/, 'head is not null'],
  ],
  'not-durable': [[/"synchronous_commit=on"\n/, '"synchronous_commit=off"\n']],
};
