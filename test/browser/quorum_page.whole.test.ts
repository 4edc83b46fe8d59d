import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { serve } from '../local_server.js';
import { Feed, units } from '../service/feed.js';
import { sha256, startTestService, type TestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { untilText, withTab } from './live_page.js';

const PUBLISH_MS = 300;
/** The price on which honest operators agree. */
const HONEST = 95_000;
/** Five percent above the honest price. */
const LIE = 99_750;

/** A service of an operator, with its own keys, streaming IDs and token. */
interface Operator {
  readonly service: TestService;
  readonly token: string;
  price: number;
}

const ROW = '#quorum [data-symbol=BTCUSD]';
const operatorItem = (n: number) => `#quorum .votes li:nth-child(${n + 1})`;

test('the page of several operators', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const anyPage = { allowed_origins: ['*'] };
  const b = await startOperator(t, 1, anyPage, HONEST);
  const c = await startOperator(t, 2, anyPage, LIE);
  const others = [b.service.url, c.service.url];
  const a = await startOperator(t, 0, { page_operators: others }, HONEST);
  const operators = [a, b, c];
  const named = operators.map(({ service }) => [service.url, service.evmAddress] as const);
  const tokens = operators.map(({ token }) => token);

  await t.test('a liar is left out and named, and each token goes to its operator', async (t) => {
    const url = linkOf(a.service.url, named);
    await withTab(t, { browser, url, operators: others }, async (page) => {
      const sent = new Set<string>();
      page.on('request', (request) => {
        const token = request.headers()['authorization']?.replace(/^\w+ /, '');
        if (token !== undefined) sent.add(`${new URL(request.url()).origin} ${token}`);
      });
      await fillTokens(page, tokens);
      await untilText(page, `${ROW} .price`, '95,000.00');
      await untilText(page, `${ROW} .sealed`, '2 of 3');
      await untilText(page, operatorItem(2), /deviates: .*5\.00 % above the median/);
      t.same([...sent].sort(), operators.map(({ service, token }) => `${service.url} ${token}`).sort());
      t.equal(page.url(), url, 'the address has no token, and stays');

      b.price = 90_000;
      await untilText(page, `${ROW} .sealed`, 'the operators disagree');
      t.equal(await page.textContent(`${ROW} .price`), '—');
      b.price = HONEST;
      await untilText(page, `${ROW} .price`, '95,000.00');
      await page.click('.bar .sign-out');
      await page.waitForSelector('#quorum input');
      t.equal(await page.evaluate('sessionStorage.length'), 0, 'no token is left');
    });
  });

  await t.test('a link cannot make the page ask an operator that its service does not name', async (t) => {
    let asked = 0;
    const url = await serve(t, (_request, response) => {
      asked += 1;
      response.end();
    });
    const link = linkOf(a.service.url, [named[0]!, named[1]!, [url, `0x${'ab'.repeat(20)}`]]);
    const context = await browser.newContext();
    t.teardown(() => context.close());
    const page = await context.newPage();
    await page.goto(link);
    await fillTokens(page, tokens);
    await untilText(page, operatorItem(2), 'listen.page_operators of this page does not name it');
    await untilText(page, `${ROW} .price`, '95,000.00');
    t.equal(asked, 0);
  });
});

/** Starts the service of an operator, which publishes its price until the test ends. @param n the number of the operator, from 0 */
async function startOperator(t: Test, n: number, listen: object, price: number): Promise<Operator> {
  const token = `token-of-operator-${n}`;
  const scopes = ['rest', 'stream', 'publish'];
  const sections = {
    listen: { port: 0, ...listen },
    service: { taxonomy_id: 10 + n },
    tokens: [{ name: 'reader', sha256: sha256(token), scopes, requests_per_second: 1_000 }],
    assets: [{ id: 10 * (n + 1), symbol: 'BTCUSD' }],
  };
  const keys = { evm: Buffer.alloc(32, 0x21 + n), stark: Buffer.alloc(32, 0x01) };
  const service = await startTestService(t, sections, { keys });
  const operator = { service, token, price };
  const feed = await Feed.open(service, { token });
  const publish = () => feed.accept({ symbol: 'BTCUSD', price: units(operator.price) });
  await publish();
  const publishing = setInterval(() => void publish().catch((error) => t.comment(String(error))), PUBLISH_MS);
  t.teardown(() => clearInterval(publishing));
  return operator;
}

/** Returns the link of the page of these operators. @param page the address of the service that serves the page */
function linkOf(page: string, operators: readonly (readonly [url: string, key: string])[]): string {
  const urls = operators.map(([url]) => url).join();
  return `${page}/#quorum=${urls}${operators.map(([, key]) => `&signer=${key}`).join('')}`;
}

/** Enters the operators' tokens into the form of the page. */
async function fillTokens(page: Page, tokens: readonly string[]): Promise<void> {
  await page.waitForSelector('#quorum input');
  for (const [i, token] of tokens.entries()) await page.locator('#quorum input').nth(i).fill(token);
  await page.click('#quorum button[type=submit]');
}
