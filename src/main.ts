#!/usr/bin/env node
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { readConfig, settings } from './config.ts';
import { StartError } from './core/start-error.ts';
import { uuidv7 } from './core/uuid.ts';
import { createLog } from './log.ts';
import { startServer } from './server.ts';
import { welcome } from './welcome.ts';

// Command line -> config -> server; signals; nothing else.

const endWithinMs = 20_000;
const echoMs = 250; // Ctrl-C under npm arrives twice: from the terminal, and passed on by npm

const run = async (): Promise<void> => {
  const { values } = readArguments();
  if (values.version) return console.log(packageJson.version);
  if (values.help) return console.log(usage());

  const config = readConfig();
  const log = createLog(config.logLevel);
  for (const name of config.unknownSettings)
    log.warn({ name }, 'Not a setting of the hub; misspelt? See docs/settings.md');

  const abort = new AbortController();
  const starting = startServer({ config, log, signal: abort.signal, onLost: fail });
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (!first) {
      first = { signal, at: performance.now() };
      log.info({ signal }, 'Stopping; a second signal ends at once');
      setTimeout(() => process.exit(1), endWithinMs).unref();
      abort.abort();
    } else if (signal !== 'SIGINT' || first.signal !== signal || performance.now() - first.at > echoMs) process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);

  const server = await starting.catch((error) => {
    if (abort.signal.aborted) process.exit(0);
    throw error;
  });
  if (!first || server.newKey) console.log(welcome(server, () => uuidv7(Date.now())));
  if (!abort.signal.aborted) await once(abort.signal, 'abort');
  await server.stop();
  process.exit(0);
};

const readArguments = () => {
  try {
    return parseArgs({
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    });
  } catch (cause) {
    throw new StartError((cause as Error).message, 'Run `baton --help` to see what there is.', { cause });
  }
};

const usage = (): string =>
  [
    'Usage: baton [--help] [--version]',
    '',
    'Starts the hub. Settings come from the environment:',
    ...Object.entries(settings).map(
      ([name, { default: value, meaning }]) => `  ${name.padEnd(24)} ${meaning}${value ? ` (${value})` : ''}`,
    ),
  ].join('\n');

const fail = (error: unknown): void => {
  if (error instanceof StartError) console.error(`baton: ${error.message}\n       ${error.remedy}`);
  else console.error('baton: Unexpected error.', error);
  process.exit(1);
};

run().catch(fail);
