import type { Browser, Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { SITE } from '../../src/server/live_page/page_files.js';
import { FakeClock } from '../clock/fake_clock.js';
import { readPage } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { namedToken, startTestService, type TestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser, runInPage, serveEmptyPage } from './browser.js';
import { untilText } from './live_page.js';

// Tests of web pages in a real browser: pages of other origins, with the service's CORS headers and the origins that may open streams, and
// the site of documents, served by the service and opened as files.

const LATEST = 'section:has(#v1_prices_latest)';

test('web pages', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);

  await t.test('a page of an allowed origin reads REST, errors and limits too', async (t) => {
    const { service, page } = await openPage(t, browser, new FakeClock());
    t.match(await ask(page, service, '/v1/taxonomy', 'alice'), {
      status: 200,
      limit: '100000',
      body: /"taxonomy_id":1/,
    });
    t.match(await ask(page, service, '/v1/taxonomy', 'nobody'), { status: 401, body: /not known/ });
    t.match(await ask(page, service, '/nope', 'alice'), { status: 404, body: /no such path/ });
    await ask(page, service, '/v1/taxonomy', 'slow');
    t.match(await ask(page, service, '/v1/taxonomy', 'slow'), { status: 429, retryAfter: '1' });
  });

  await t.test('a page of another origin reads nothing, and opens no stream', async (t) => {
    const { service, page } = await openPage(t, browser);
    const { data } = JSON.parse((await ask(page, service, '/v1/stream_ticket', 'alice')).body);
    await page.goto(await serveEmptyPage(t));
    await t.rejects(ask(page, service, '/v1/taxonomy', 'alice'), /Failed to fetch/);
    await t.rejects(ask(page, service, '/v1/deployments/evm'), /Failed to fetch/, 'without a preflight');
    t.same(await openStream(page, service, data.ticket), { closed: 1006 });
  });

  await t.test('a page opens a stream as the README says, with a ticket that is good once', async (t) => {
    const { service, page } = await openPage(t, browser);
    const first = await runInPage(page, `${EXAMPLE}${FIRST_MESSAGE}`, { url: service.url, token: 'alice' });
    t.match(first, {
      protocol: 'tickseal.v1',
      message: '{"type":"subscribe","id":1,"assets":[1],"invalid":[]}',
    });
    t.same(await openStream(page, service, (first as { ticket: string }).ticket), { closed: 1006 });
  });

  await t.test(
    'the own page needs no leave, but not under a name that somebody else lets resolve to this machine',
    async (t) => {
      const service = await startTestService(t, { tokens: TOKENS });
      // Without `bypassCSP`, the Content-Security-Policy of this page would forbid every connection.
      const context = await browser.newContext({ bypassCSP: true });
      t.teardown(() => context.close());
      const page = await context.newPage();
      for (const [host, opened] of [
        ['127.0.0.1', { protocol: 'tickseal.v1' }],
        ['localhost', { protocol: 'tickseal.v1' }],
        ['rebound.test', { closed: 1006 }],
      ] as const) {
        const own = { url: `http://${host}:${service.port}` };
        await page.goto(`${own.url}/docs`);
        t.same(await openStream(page, own, await ticketOf(page, own, 'alice')), opened, host);
      }
    },
  );
});

test('the documents', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const faults: string[] = [];
  const page = await browser.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });

  await t.test('a request with the token of the reader, to the service that served the page', async (t) => {
    const service = await startTestService(t);
    const feed = await Feed.open(service);
    await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
    await page.goto(`${service.url}/docs/prices.html`);
    await page.click(`${LATEST} [type=submit]`);
    t.equal(await page.evaluate('document.activeElement.type'), 'password', 'a missing token is asked for');
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Enter');
    await untilText(page, `${LATEST} .result`, '200 OK');
    const answer = (await page.textContent(`${LATEST} .result pre`))!;
    t.match(answer, /^\{\n {2}"data": \{\n {4}"BTCUSD": \{\n {6}"timestamp": \d{19},\n/, 'every digit stays');
    await page.reload();
    t.equal(await page.inputValue(`${LATEST} [type=password]`), '', 'a reload forgets the token');
    t.same(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'), [0, 0, '']);
  });

  await t.test('the search, the languages and the copies work in files without a server', async (t) => {
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
  });

  t.same(faults, [], 'the policy allows what the pages do, and no script fails');
});

const TOKENS = [namedToken('alice'), namedToken('slow', { requests_per_second: 1 })];

/** The example of the README of the server. The example makes `data` and `socket` from `url` and `token`. */
const EXAMPLE = `
const { url, token } = args;
${/```js page\n([\s\S]*?)```/.exec(readPage('src/server/README.md'))?.[1]}`;

const FIRST_MESSAGE = `
const message = await new Promise((resolve) => { socket.onmessage = ({ data }) => resolve(data); });
return { protocol: socket.protocol, message, ticket: data.ticket };`;

const ASK = `
const headers = args.token === undefined ? {} : { Authorization: 'Basic ' + args.token };
const response = await fetch(args.url, { headers, credentials: 'omit' });
const [limit, retryAfter] = ['RateLimit-Limit', 'Retry-After'].map((name) => response.headers.get(name));
return { status: response.status, limit, retryAfter, body: await response.text() };`;

const OPEN_STREAM = `
const socket = new WebSocket(args.url, ['tickseal.v1', 'ticket.' + args.ticket]);
return new Promise((resolve) => {
  socket.onclose = ({ code }) => resolve({ closed: code });
  socket.onopen = () => resolve({ protocol: socket.protocol });
});`;

interface Answer {
  readonly status: number;
  readonly limit: string | null;
  readonly retryAfter: string | null;
  readonly body: string;
}

type Reachable = Pick<TestService, 'url'>;

/** Opens a service that allows a single other origin, and opens a page of that origin. */
async function openPage(t: Test, browser: Browser, clock?: FakeClock) {
  const origin = await serveEmptyPage(t);
  const service = await startTestService(
    t,
    { listen: { port: 0, allowed_origins: [origin] }, tokens: TOKENS },
    clock && { clock },
  );
  const page = await browser.newPage();
  t.teardown(() => page.close());
  await page.goto(origin);
  return { service, page };
}

function ask(page: Page, { url }: Reachable, path: string, token?: string): Promise<Answer> {
  return runInPage(page, ASK, { url: url + path, token });
}

async function ticketOf(page: Page, service: Reachable, token: string): Promise<string> {
  return JSON.parse((await ask(page, service, '/v1/stream_ticket', token)).body).data.ticket;
}

/**
 * Opens a stream in a page. @returns the subprotocol that the server selected, or the browser's code for a failed connection
 */
function openStream(page: Page, { url }: Reachable, ticket: string): Promise<object> {
  return runInPage(page, OPEN_STREAM, { url: `${url.replace(/^http/, 'ws')}/ws`, ticket });
}
