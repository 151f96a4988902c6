import { parseArgs } from 'node:util';
import { runCore } from './core/run.ts';
import { type Bug, bugs } from './core/world.ts';

// npm run chaos -- core [--seconds 60] [--seed 1] [--bug NAME] [--calm] [--no-reassign] [--keep]
// Exit 0: no violations. 1: violations. 2: inconclusive, too little happened. 3: the run itself failed.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    bug: { type: 'string' },
    calm: { type: 'boolean', default: false },
    'no-reassign': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
const bug = bugs.find((name) => name === values.bug) as Bug | undefined;
const isUsable =
  positionals[0] === 'core' && seconds > 0 && seconds <= 600 && Number.isInteger(seed) && (!values.bug || bug);
if (!isUsable) {
  console.error(
    `Usage: npm run chaos -- core [--seconds 60] [--seed 1] [--bug ${bugs.join('|')}] [--calm] [--no-reassign] [--keep]`,
  );
  process.exit(3);
}
process.exitCode = await runCore({
  seconds,
  seed,
  bug,
  isCalm: values.calm,
  reassigns: !values['no-reassign'],
  keeps: values.keep,
}).catch((error) => {
  console.error(error);
  return 3;
});
