import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The PostgreSQL that runs, or ran, in a hub's data directory. */
export const postmasterOf = (dataDir: string) => {
  const [pid, , , port] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  const password = readFileSync(join(dataDir, 'postgres/baton-password'), 'utf8');
  return { pid: Number(pid), url: `postgres://baton:${password}@127.0.0.1:${port}/baton` };
};
