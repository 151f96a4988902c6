import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultProxy, startProxy } from '../proxy.ts';
import { timing } from './world.ts';

// The built hub, as processes, each behind a proxy whose address stays. Only what was started here is ever ended, by its
// own handle.

type Standing = {
  child: ChildProcess;
  isExpected: boolean;
  ended: Promise<number | NodeJS.Signals | null>;
  log: string;
};
type Options = { program: string; databaseUrl: string; adminKey: string; directory: string };

export const count = 3;
const startWithinMs = 60_000;
const stopWithinMs = 20_000; // as promised

export const createServers = async ({ program, databaseUrl, adminKey, directory }: Options) => {
  const places: (Standing | undefined)[] = [];
  const proxies: FaultProxy[] = [];
  const crashes: string[] = [];
  const counts = { failedStarts: 0 };
  let starts = 0;

  const start = async (place: number): Promise<void> => {
    starts += 1;
    const log = join(directory, `server-${place}-${starts}.log`);
    const child = spawn(process.execPath, ['--enable-source-maps', program], {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        DATABASE_URL: databaseUrl,
        BATON_ADMIN_KEY: adminKey,
        BATON_LEASE_SECONDS: String(timing.leaseSeconds),
        BATON_HEARTBEAT_SECONDS: String(timing.heartbeatSeconds),
        BATON_WAKE_UPS: place === 0 ? 'off' : 'on', // one of them hears no bell, ever
        BATON_LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', openSync(log, 'a')],
    });
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? code));
    });
    const standing: Standing = { child, isExpected: false, ended, log };
    places[place] = standing;
    let isReady = false;
    void ended.then((how) => {
      if (!standing.isExpected && isReady)
        crashes.push(`server ${place} ended by itself: ${how}\n${readFileSync(log, 'utf8').slice(-2_000)}`);
    });
    const port = await new Promise<number | undefined>((resolve) => {
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (more) => {
        text += more;
        const found = /GraphQL\s+http:\/\/[^:]+:(\d+)\/graphql/.exec(text)?.[1];
        if (found) resolve(Number(found));
      });
      void ended.then(() => resolve(undefined));
      setTimeout(() => resolve(undefined), startWithinMs).unref();
    });
    if (port !== undefined) {
      isReady = true;
      proxies[place]?.moveTo(port);
    } else if (standing.isExpected) return;
    else if (isAway(log)) {
      // Whoever looks after a service starts it again.
      counts.failedStarts += 1;
      await sleep(250);
      await start(place);
    } else crashes.push(`server ${place} did not start\n${readFileSync(log, 'utf8').slice(-2_000)}`);
  };

  const end = async (place: number, signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null | undefined> => {
    const standing = places[place];
    if (!standing || standing.child.exitCode !== null || standing.child.signalCode !== null) return undefined;
    standing.isExpected = true;
    standing.child.kill(signal);
    return standing.ended;
  };

  /** Asks it to end, and sees to it that it does so in time and well. */
  const stop = async (place: number): Promise<void> => {
    const how = await Promise.race([end(place, 'SIGTERM'), sleep(stopWithinMs, 'too late', { ref: false })]);
    if (how === 0 || how === undefined) return;
    crashes.push(`server ${place} was asked to stop: ${how}`);
    await end(place, 'SIGKILL');
  };

  const endAll = (): void => {
    for (const standing of places) standing?.child.kill('SIGKILL');
  };
  process.on('exit', endAll);
  for (let place = 0; place < count; place += 1) proxies[place] = await startProxy({ host: '127.0.0.1', port: 1 });
  await start(0); // it prepares the database
  await Promise.all([start(1), start(2)]);

  return {
    crashes,
    counts,
    urls: proxies.map(({ port }) => `http://127.0.0.1:${port}`),
    links: () => proxies.flatMap((proxy) => proxy.links()),
    async kill(place: number) {
      await end(place, 'SIGKILL');
      await start(place);
    },
    async restart(place: number) {
      await stop(place);
      await start(place);
    },
    async pause(place: number, ms: number) {
      const child = places[place]?.child;
      child?.kill('SIGSTOP');
      await sleep(ms);
      child?.kill('SIGCONT');
    },
    async stop() {
      await Promise.all(places.map((_, place) => stop(place)));
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      process.off('exit', endAll);
    },
    endAll,
  };
};

export type Servers = Awaited<ReturnType<typeof createServers>>;

/** The last words of a server whose database was taken from it while it started. */
const isAway = (log: string): boolean =>
  /57P0|starting up|terminat|ECONN|connection|went away|cannot be reached/i.test(readFileSync(log, 'utf8'));
