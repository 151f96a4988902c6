import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';

// A real browser that comes with its package, its fonts and the libraries it needs: nothing of the machine is used.

/** There is one for Linux on x64 only. */
export const hasBrowser = process.platform === 'linux' && process.arch === 'x64';

/** A browser for the tests of a file. Unlike the package's own arguments, ours leave web security on. */
export const useBrowser = (): { open: () => Promise<Visit> } => {
  let home = '';
  let browser: Browser;
  beforeAll(async () => {
    if (!hasBrowser) return;
    home = mkdtempSync(join(tmpdir(), `baton-test-${inject('runId')}-`));
    browser = await chromium.launch({
      executablePath: await unpack(home),
      chromiumSandbox: false, // it refuses to run as root with it
      args: ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
      env: {
        HOME: home,
        LD_LIBRARY_PATH: join(home, 'al2023/lib'),
        FONTCONFIG_FILE: fontsIn(home),
        TEST_RUN_ID: inject('runId'),
      },
    });
  });
  afterAll(async () => {
    await browser?.close();
    if (home) rmSync(home, { recursive: true, force: true });
  });
  return { open: () => visit(browser) };
};

/** A page, and all that went on in it. */
export type Visit = { page: Page; problems: string[]; requests: URL[] };

const visit = async (browser: Browser): Promise<Visit> => {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const [problems, requests]: [string[], URL[]] = [[], []];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => requests.push(new URL(request.url())));
  page.on('websocket', (socket) => requests.push(new URL(socket.url())));
  return { page, problems, requests };
};

/** The package unpacks into the directory for temporary files, and its libraries only where it believes to be on Lambda. */
const unpack = async (directory: string): Promise<string> => {
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env;
  Object.assign(process.env, { TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' });
  try {
    return await sparticuz.executablePath();
  } finally {
    for (const [name, value] of Object.entries({ TMPDIR, AWS_EXECUTION_ENV }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
};

/** Without any font at all the browser crashes. */
const fontsIn = (home: string): string => {
  const [file, cache] = [join(home, 'fonts.conf'), join(home, 'fonts-cache')];
  mkdirSync(cache);
  writeFileSync(file, `<fontconfig><dir>${join(home, 'fonts')}</dir><cachedir>${cache}</cachedir></fontconfig>\n`);
  return file;
};
