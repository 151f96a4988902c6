import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { refusedHub, startHub } from '../support/hub.ts';
import { built, reachableProgram } from '../support/program.ts';

// Each: exit code not 0, one clear line and what to do, nothing touched.

const refusal = (message: string | RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(message) });

test('a taken port is found before anything is touched', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const dataDir = join(temporaryDirectory(), 'data');
  expect(await refusedHub({ env: { PORT: String(port), BATON_DATA_DIR: dataDir } })).toEqual(
    refusal(`^baton: Port ${port} on 127.0.0.1 is taken by another program.\n +Stop that program, or set PORT`),
  );
  expect(() => readdirSync(dataDir)).toThrow('ENOENT');
});

test('an address that is not of this machine is refused', async () => {
  expect(await refusedHub({ env: { HOST: '192.0.2.1', PORT: '0' } })).toEqual(
    refusal(/^baton: Cannot listen on 192.0.2.1:0: .*\n +Set HOST/),
  );
});

test('a bad setting is named', async () => {
  expect(await refusedHub({ env: { PORT: 'http' } })).toEqual(
    refusal(
      /^baton: Bad setting: PORT must be a whole number from 0 to 65535.\n +docs\/settings.md lists every setting./,
    ),
  );
});

test('an unknown option is refused', async () => {
  expect(await refusedHub({ command: [...built(), '--prot=1'] })).toEqual(refusal(/^baton: Unknown option '--prot'/));
});

test('a data directory that is a file is refused', async () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  expect(await refusedHub({ env: { BATON_DATA_DIR: file } })).toEqual(
    refusal(/^baton: The data directory .* cannot be written: EEXIST.*\n +Set BATON_DATA_DIR/),
  );
});

test.runIf(process.platform === 'linux')('a file system that takes no directories is refused', async () => {
  expect(await refusedHub({ env: { BATON_DATA_DIR: '/proc/baton/data' } })).toEqual(
    refusal(/^baton: The data directory .* cannot be written: ENOENT.*\n +Set BATON_DATA_DIR/),
  );
});

test('a data directory that may not be written is refused', async () => {
  const locked = temporaryDirectory();
  chmodSync(locked, 0o500);
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534, command: reachableProgram() } : {};
  expect(await refusedHub({ env: { BATON_DATA_DIR: join(locked, 'data') }, ...user })).toEqual(
    refusal(/^baton: The data directory .* cannot be written: EACCES.*\n +Set BATON_DATA_DIR/),
  );
});

test('a directory that holds something else is left alone', async () => {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres/letter'), 'mine');
  expect(await refusedHub({ env: { BATON_DATA_DIR: dataDir } })).toEqual(
    refusal(/^baton: .* is not the data of a hub/),
  );
  expect(readdirSync(join(dataDir, 'postgres'))).toEqual(['letter']);
});

test('data of another PostgreSQL version is left alone', async () => {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '16\n');
  expect(await refusedHub({ env: { BATON_DATA_DIR: dataDir } })).toEqual(
    refusal(/^baton: The data in .* was written by PostgreSQL 16; this hub carries PostgreSQL 18./),
  );
});

test('a misspelt setting is warned of, and the hub starts', async () => {
  const hub = await startHub({ env: { BATON_DATA_DIR: temporaryDirectory(), BATON_ADMINKEY: 'x' } });
  expect(hub.stderr()).toMatch(/"name":"BATON_ADMINKEY".*misspelt/);
});
