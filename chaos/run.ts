import { parseArgs } from 'node:util';
import { runCore } from './core/run.ts';
import { bugs as coreBugs } from './core/world.ts';
import { bugs as shortBugs } from './short/bugs.ts';
import { runShort } from './short/run.ts';

// npm run chaos -- core|short [--seconds 60|120] [--seed 1] [--bug NAME] [--calm] [--no-reassign] [--keep]
// Exit 0: no violations. 1: violations. 2: inconclusive, too little happened. 3: the run itself failed.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    bug: { type: 'string' },
    calm: { type: 'boolean', default: false },
    'no-reassign': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const [kind] = positionals;
const seconds = Number(values.seconds ?? (kind === 'core' ? 60 : 120));
const seed = Number(values.seed);
const shared = { seconds, seed, isCalm: values.calm, keeps: values.keep };
const coreBug = coreBugs.find((name) => name === values.bug);
const shortBug = shortBugs.find((name) => name === values.bug);
const isRightBug = !values.bug || (kind === 'core' ? coreBug : shortBug);
const isUsable =
  (kind === 'core' || kind === 'short') && seconds > 0 && seconds <= 600 && Number.isInteger(seed) && isRightBug;
if (!isUsable) {
  console.error(`Usage: npm run chaos -- core [--seconds 60] [--seed 1] [--bug ${coreBugs.join('|')}] [--calm] [--no-reassign] [--keep]
       npm run chaos -- short [--seconds 120] [--seed 1] [--bug ${shortBugs.join('|')}] [--calm] [--keep]`);
  process.exit(3);
}
const run =
  kind === 'core'
    ? runCore({ ...shared, bug: coreBug, reassigns: !values['no-reassign'] })
    : runShort({ ...shared, bug: shortBug });
process.exitCode = await run.catch((error) => {
  console.error(error);
  return 3;
});
