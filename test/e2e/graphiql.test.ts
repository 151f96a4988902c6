import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '../support/browser.ts';
import { temporaryDirectory } from '../support/directory.ts';
import type { Answer } from '../support/house.ts';
import { startHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

// The page at /graphql, in a real browser under its real Content-Security-Policy.

const browser = useBrowser();
const inBrowser = test.skipIf(!hasBrowser);

/** A hub, and the link to try it in a browser, as its welcome prints it. */
const startWithLink = async () => {
  const hub = await startHub({ env: { BATON_DATA_DIR: temporaryDirectory() } });
  const [link = ''] = await until(() => hub.stdout().match(/http:\S+\/graphql#key=bk_\S+/), 'the link in the welcome');
  return { ...hub, link, key: link.split('#key=')[1] ?? '' };
};
const ask = async (url: string, key: string, query: string): Promise<Answer['data']> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as Answer).data;
};
const run = async (page: Page, operation: string) => {
  await page.locator('.graphiql-execute-button').click();
  await page.getByRole('menuitem', { name: operation }).click();
};
const answer = async (page: Page) =>
  ((await page.locator('.result-window .view-lines').textContent()) ?? '').replaceAll('\u00a0', ' ');
const answers = (page: Page, what: string) =>
  until(async () => (await answer(page)).includes(what), `${what} in ${page.url()}`);
const sends = async (page: Page, header: string) => {
  await page.getByRole('button', { name: 'Headers' }).click();
  await page.getByText(header).waitFor();
};

inBrowser('the link of the welcome opens a page that asks the echo agent and shows its answer', async () => {
  const { link, url, key } = await startWithLink();
  const { page, problems, requests } = await browser.open();
  await page.goto(link);
  expect(await page.title()).toBe('Baton');
  expect(page.url()).toBe(`${url}/graphql`);

  await run(page, 'Ask');
  await answers(page, '"sendMessage"');
  await run(page, 'Watch');
  await answers(page, '"COMPLETED"');
  await run(page, 'Look');
  await answers(page, '"result": "The quick brown fox jumps over the lazy dog"');

  expect(problems).toEqual([]);
  expect([...new Set(requests.map(({ origin }) => origin))]).toEqual([url]); // a blob: has the origin of its page
  expect(requests.filter(({ href }) => href.includes(key))).toEqual([]);
});

inBrowser('events arrive in the page as they happen', async () => {
  const { link, url, key } = await startWithLink();
  const { page } = await browser.open();
  await page.goto(link);
  const { registerAgent } = await ask(url, key, 'mutation { registerAgent(input: { name: "slow" }) { token } }');
  const work = (query: string) => ask(url, registerAgent.token, query);
  const taskId = await page.evaluate(() => JSON.parse(sessionStorage.getItem('graphiql:variables') ?? '').task);
  await ask(url, key, `mutation { sendMessage(input: { agent: "slow", text: "x", taskId: "${taskId}" }) { id } }`);
  await work(`mutation { ackTask(id: "${taskId}", delivery: 1) { id } }`);

  await run(page, 'Watch');
  let said = '';
  for (const word of ['one ', 'two ', 'three ']) {
    said += word;
    const chunk = `taskId: "${taskId}", delivery: 1, artifactId: "words", text: "${word}", append: true`;
    await work(`mutation { appendArtifact(input: { ${chunk} }) { id } }`);
    await answers(page, `"${said}"`); // before the next one is said
  }
});

inBrowser('what was typed, and the key, are there after a reload, and gone with the next link', async () => {
  const { link, url, key } = await startWithLink();
  const { page, problems } = await browser.open();
  await page.goto(link);
  await page.locator('.graphiql-query-editor .view-line', { hasText: 'one by one' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' Typed.');
  await page.getByText('Typed.').waitFor();
  await until(
    () => page.evaluate(() => sessionStorage.getItem('graphiql:tabState')?.includes('Typed.')),
    'the editor to keep it',
  );
  expect(page.url()).toBe(`${url}/graphql`); // else a reload would run the query instead of showing the page
  await page.reload();
  await page.getByText('Typed.').waitFor();
  await sends(page, `"Bearer ${key}"`);
  expect(await page.getByRole('tab').count()).toBe(1);
  expect(problems).toEqual([]);

  await page.goto(`${url}/graphql#key=another`); // only what stands behind # changes: no new page by itself
  await page.waitForURL(`${url}/graphql`);
  await sends(page, '"Bearer another"');
  expect(await page.getByText('Typed.').count()).toBe(0);
});

inBrowser('without a key the page knows the schema, and says where the key goes', async () => {
  const { url } = await startWithLink();
  const { page, problems } = await browser.open();
  await page.goto(`${url}/graphql`);
  await page.getByText('// "authorization": "Bearer <your key>"').waitFor();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.getByText('root types').waitFor();
  await run(page, 'Ask');
  await answers(page, '"UNAUTHENTICATED"');
  expect(problems).toEqual(['Failed to load resource: the server responded with a status of 401 (Unauthorized)']);
});
