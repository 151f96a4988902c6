import { afterAll, beforeAll } from 'vitest';

// Registered before the hooks of the file itself, so it runs after them.

const watched = new Set(['TCPSocketWrap', 'TCPServerWrap', 'ProcessWrap', 'Timeout']);
const open = () => process.getActiveResourcesInfo().filter((name) => watched.has(name));
let before: number;

beforeAll(() => {
  before = open().length; // inside a hook, as below: each has a timer of its own
});

afterAll(async () => {
  for (let tries = 0; tries < 50 && open().length > before; tries++)
    await new Promise((resolve) => setImmediate(resolve)); // sockets close a turn after they are told to
  if (open().length > before) throw new Error(`This file left open: ${open().join(', ')}`);
});
