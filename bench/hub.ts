import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The built hub in a process of its own, on a database of the bench. */
export type BenchHub = { url: string; key: string; pid: number; stop(): Promise<void> };

const key = 'bench-key-of-the-first-owner';

export const startHub = async (main: string, database: string, nodeOptions: string[] = []): Promise<BenchHub> => {
  const child = spawn(process.execPath, [...nodeOptions, main], {
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database,
      BATON_ADMIN_KEY: key,
      BATON_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a Ctrl-C is ours to pass on
  });
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const [, found] = /GraphQL\s+(\S+)\/graphql/.exec(said) ?? [];
      if (found) resolve(found);
    });
    void ended.then(([code]) => reject(new Error(`The hub ended with ${code}: ${said}`)));
  });
  return {
    url,
    key,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
};

/** Agents that speak over the hub's socket, each with its token. */
export const registerAgents = (hub: BenchHub, count: number): Promise<{ name: string; token: string }[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const name = `bench-${index}`;
      const query = `mutation { registerAgent(input: { name: "${name}", url: "ws-agent://${name}" }) { token } }`;
      const response = await fetch(`${hub.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${hub.key}` },
        body: JSON.stringify({ query }),
      });
      const { data, errors } = (await response.json()) as {
        data?: { registerAgent: { token: string } };
        errors?: unknown;
      };
      if (!data) throw new Error(`An agent was refused: ${JSON.stringify(errors)}`);
      return { name, token: data.registerAgent.token };
    }),
  );
