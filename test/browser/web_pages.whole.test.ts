import type { Browser, Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { readPage } from '../pages.js';
import { namedToken, startTestService, type TestService } from '../service/harness.js';
import { launchBrowser, needsBrowser, runInPage, serveEmptyPage } from './browser.js';

// Tests of web pages of other origins in a real browser: the service's CORS headers, and the origins that may open streams.

test('web pages', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);

  await t.test('a page of an allowed origin reads REST, errors and limits too', async (t) => {
    const { service, page } = await openPage(t, browser, new FakeClock());
    t.match(await ask(page, service, '/v1/taxonomy', 'alice'), {
      status: 200,
      limit: '100000',
      body: /"taxonomy_id":1/,
    });
    t.match(await ask(page, service, '/v1/deployments/evm'), { status: 200, limit: '5' }, 'no preflight');
    t.match(await ask(page, service, '/v1/taxonomy', 'nobody'), { status: 401, body: /not known/ });
    t.match(await ask(page, service, '/nope', 'alice'), { status: 404, body: /no such path/ });
    t.match(await ask(page, service, '/v1/prices/latest', 'alice'), {
      status: 400,
      body: /assets is missing/,
    });
    await ask(page, service, '/v1/taxonomy', 'slow');
    t.match(await ask(page, service, '/v1/taxonomy', 'slow'), { status: 429, retryAfter: '1' });
  });

  await t.test('a page of another origin reads nothing, and opens no stream', async (t) => {
    const { service, page } = await openPage(t, browser);
    const { data } = JSON.parse((await ask(page, service, '/v1/stream_ticket', 'alice')).body);
    await page.goto(await serveEmptyPage(t));
    for (const path of ['/v1/taxonomy', '/v1/deployments/evm', '/nope'])
      await t.rejects(ask(page, service, path, 'alice'), /Failed to fetch/, path);
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
