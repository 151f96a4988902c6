import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fanout } from './fanout.ts';
import { latency } from './latency.ts';
import { lifecycle } from './lifecycle.ts';
import { profile } from './profile.ts';
import { writer } from './writer.ts';

// npm run bench [-- <name>]: asks one question, or all of them. Prints a table, writes bench/results/<name>.json.

export type Asked = { say: (line: string) => void; signal: AbortSignal };
export type Answered = {
  table: string;
  result: object;
  /** False: something was lost, and what is missing in the table is missing for that. */ isSound: boolean;
};

const questions: Record<string, (asked: Asked) => Promise<Answered>> = {
  writer,
  lifecycle,
  latency,
  fanout,
  profile,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(questions);
const unknown = names.filter((name) => !(name in questions));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}. There are: ${Object.keys(questions).join(', ')}`);
  process.exit(1);
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort(new Error(`Stopped by ${signal}`)));

const results = join(import.meta.dirname, 'results');
await mkdir(results, { recursive: true });
for (const name of names) {
  const begun = performance.now();
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, loadBefore: loadavg()[0] };
  const { table, result, isSound } = (await questions[name]?.({ say: console.log, signal: stop.signal })) ?? nothing();
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const file = join(results, `${name}.json`);
  const whole = { name, at: new Date().toISOString(), seconds, machine, isSound, ...result };
  await writeFile(file, `${JSON.stringify(whole, null, 2)}\n`);
  console.log(`\n${table}\n${name}: ${seconds} s, written to ${file}`);
  if (!isSound) process.exitCode = 1;
}

function nothing(): never {
  throw new Error('A bench vanished');
}
