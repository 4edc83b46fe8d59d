import { type Test, test } from 'tap';
import { SITE } from '../../src/server/live_page/page_files.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { untilText } from './live_page.js';

// Tests of the site of documents in a browser, served by the service and opened as files.

const LATEST = 'section:has(#v1_prices_latest)';

test('the documents', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const faults: string[] = [];
  const openPage = async (t: Test, options: { readonly javaScriptEnabled?: boolean } = {}) => {
    const context = await browser.newContext(options);
    t.teardown(() => context.close());
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      // An answer of 400 is no fault of the page.
      if (message.type() === 'error' && !message.text().includes('400')) faults.push(message.text());
    });
    return page;
  };

  await t.test('a request with the token of the reader, to the service that served the page', async (t) => {
    const service = await startTestService(t);
    const feed = await Feed.open(service);
    await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
    const page = await openPage(t);
    await page.goto(`${service.url}/docs/prices.html`);
    t.match(await page.textContent('.bar'), 'Live prices');
    await page.click(`${LATEST} [type=submit]`);
    t.equal(await page.evaluate('document.activeElement.type'), 'password', 'a missing token is asked for');
    await page.keyboard.type(TOKEN);
    t.match(await page.inputValue('section:has(#v1_prices_at) [type=password]'), TOKEN, 'each form has it');
    await page.fill(`${LATEST} [name=quality]`, 'true');
    t.match(await page.textContent(`${LATEST} .samples`), 'latest?assets=BTCUSD&quality=true');
    await page.keyboard.press('Enter');
    await untilText(page, `${LATEST} .result`, '200 OK');
    const answer = (await page.textContent(`${LATEST} .result pre`))!;
    t.match(answer, /^\{\n {2}"data": \{\n {4}"BTCUSD": \{\n {6}"timestamp": \d{19},\n/, 'every digit stays');
    await page.fill(`${LATEST} [name=assets]`, 'NOUSD');
    await page.click(`${LATEST} [type=submit]`);
    await untilText(page, `${LATEST} .result`, '400 Bad Request');
    await page.reload();
    t.equal(await page.inputValue(`${LATEST} [type=password]`), '', 'a reload forgets the token');
    t.same(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'), [0, 0, '']);
  });

  await t.test('a stream is shown until the reader stops it', async (t) => {
    const service = await startTestService(t);
    const feed = await Feed.open(service);
    await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
    const page = await openPage(t);
    await page.goto(`${service.url}/docs/streams.html`);
    const stream = 'section:has(#v1_stream)';
    await page.fill(`${stream} [type=password]`, TOKEN);
    await page.click(`${stream} [type=submit]`);
    await untilText(page, `${stream} .result`, 'event: unsigned');
    await page.click(`${stream} [type=submit]`);
    await untilText(page, `${stream} .result`, 'stopped');
  });

  await t.test('the search, the languages and the copies work in files without a server', async (t) => {
    const page = await openPage(t);
    await page.goto(new URL('prices.html', SITE.folder).href);
    await page.keyboard.press('/');
    await page.keyboard.type('backup and rest');
    await page.waitForSelector('.results a');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/running\.html#backup-and-restore$/);
    await page.goBack();
    const samples = (language: string) => page.isVisible(`${LATEST} [data-language=${language}]`);
    t.same([await samples('curl'), await samples('Python')], [true, false]);
    await page.click(`${LATEST} .languages >> text=Python`);
    t.same([await samples('curl'), await samples('Python')], [false, true]);
    t.equal(await page.locator('.run').count(), 0, 'no service served the page');
    const blocks = await page.locator('pre').count();
    t.ok(blocks > 0);
    t.equal(await page.locator('.copied > button').count(), blocks, 'each block has its button');
  });

  await t.test('the pages can be read without a script', async (t) => {
    const page = await openPage(t, { javaScriptEnabled: false });
    await page.goto(new URL('prices.html', SITE.folder).href);
    for (const language of ['curl', 'TypeScript', 'Python'])
      t.ok(await page.isVisible(`${LATEST} [data-language=${language}]`), language);
    t.equal(await page.locator('#search *').count(), 0, 'no field that does nothing');
    await page.click('nav >> text=Streams');
    await page.waitForURL(/streams\.html$/);
  });

  t.same(faults, [], 'the policy allows what the pages do, and no script fails');
});
