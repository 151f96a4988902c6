import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { inject, onTestFinished } from 'vitest';
import { built } from './program.ts';

/** A real hub: the built program in a process of its own. */
export type Hub = {
  process: ChildProcess;
  url: string;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

type HubOptions = {
  command?: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** A process group of its own, as under a terminal. */
  detached?: boolean;
};

export const launchHub = ({ command = built(), env = {}, ...options }: HubOptions): Omit<Hub, 'url'> => {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, TEST_RUN_ID: inject('runId'), PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return { process: child, stdout: () => stdout, stderr: () => stderr, kill: (signal) => child.kill(signal), ended };
};

/** Starts a hub and waits for its welcome. */
export const startHub = async (options: HubOptions = {}): Promise<Hub> => {
  const hub = launchHub(options);
  const url = await new Promise<string>((resolve, reject) => {
    hub.process.stdout?.on('data', () => {
      const [, found] = hub.stdout().match(/GraphQL\s+(\S+)\/graphql/) ?? [];
      if (found) resolve(found);
    });
    void hub.ended.then(({ code }) => reject(new Error(`The hub ended with ${code}: ${hub.stderr()}`)));
  });
  return { ...hub, url };
};

/** Starts a hub that is expected to refuse; returns what it said. */
export const refusedHub = async (
  options: HubOptions,
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const hub = launchHub(options);
  const { code } = await hub.ended;
  return { code, stdout: hub.stdout(), stderr: hub.stderr() };
};

export const graphql = async (url: string, query: string): Promise<unknown> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
};
