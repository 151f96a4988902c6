import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { closeReasons } from '../../src/hub/agent-socket.ts';
import { errorNumbers, rpcErrors } from '../../src/hub/json-rpc.ts';
import { agentMethods, hubMethods } from '../../src/hub/methods.ts';

const text = readFileSync('docs/hub-protocol.md', 'utf8');
const headings = [...text.matchAll(/^### `(.+)` · (\w+) → (\w+), (\w+)$/gm)];
const from = (who: string) => headings.filter(([, , sender]) => sender === who).map(([, method]) => method);

test('every method an agent may send is documented, and no other', () => {
  expect(from('agent').sort()).toEqual([...agentMethods].sort());
});

test('every method the hub sends is documented, and no other', () => {
  expect(from('hub').sort()).toEqual([...hubMethods].sort());
});

test('every message has its shape', () => {
  for (const [heading] of headings) {
    const section = text.slice(text.indexOf(heading) + heading.length).split(/^##/m)[0];
    expect(section, heading).toContain('type Params = ');
  }
});

test('every error has the number that the code gives it', () => {
  const rows = [...text.matchAll(/^\| ([A-Z_]+) \| (-\d+) \|$/gm)].map(([, code, number]) => [code, Number(number)]);
  expect(Object.fromEntries(rows)).toEqual(errorNumbers);
  expect(new Set(Object.values(errorNumbers)).size).toBe(rows.length);
  for (const number of Object.values(rpcErrors)) expect(text).toContain(`| ${number} |`);
});

test('every close code is documented with its reason', () => {
  const rows = [...text.matchAll(/^\| (\d{4}) \| ([a-z ]+) \|/gm)].map(([, code, reason]) => [code, reason]);
  expect(Object.fromEntries(rows)).toEqual(closeReasons);
});
