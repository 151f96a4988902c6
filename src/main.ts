#!/usr/bin/env node
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { readConfig, settings } from './config.ts';
import { StartError } from './core/start-error.ts';
import { createLog } from './log.ts';
import { type Server, startServer } from './server.ts';

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

  const starting = startServer({ config, log, onLost: fail });
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first && (signal !== first.signal || performance.now() - first.at > echoMs)) return endAtOnce(running);
    if (first) return;
    first = { signal, at: performance.now() };
    log.info({ signal }, 'Stopping; a second signal ends at once');
    setTimeout(() => endAtOnce(running), endWithinMs).unref();
    void starting.then((server) => server.stop()).then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);

  let running: Server | undefined;
  running = await starting;
  if (!first) console.log(welcome(running));
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

const welcome = ({ version, url, dataDir, newKey }: Server): string =>
  [
    '',
    `  Baton ${version} is ready.`,
    '',
    `  GraphQL   ${url}/graphql`,
    `  Health    ${url}/livez  ${url}/readyz`,
    `  Data      ${dataDir ?? 'in the PostgreSQL that DATABASE_URL names'}`,
    ...(newKey ? ['', `  Your API key, shown only now:  ${newKey}`] : []),
    '',
    '  Try it:',
    `  curl -s ${url}/graphql -H 'content-type: application/json' -d '{"query":"{ version }"}'`,
    '',
    '  Stop with Ctrl-C. Settings: docs/settings.md',
    '',
  ].join('\n');

const usage = (): string =>
  [
    'Usage: baton [--help] [--version]',
    '',
    'Starts the hub. Settings come from the environment:',
    ...Object.entries(settings).map(
      ([name, { default: value, meaning }]) => `  ${name.padEnd(16)} ${meaning}${value ? ` (${value})` : ''}`,
    ),
  ].join('\n');

const endAtOnce = (server: Server | undefined): void => {
  server?.abandon();
  process.exit(1);
};

const fail = (error: unknown): void => {
  if (error instanceof StartError) console.error(`baton: ${error.message}\n       ${error.remedy}`);
  else console.error('baton: Unexpected error.', error);
  process.exit(1);
};

run().catch(fail);
