import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { launchBrowser, needsBrowser } from './browser.js';
import { untilText, withTab } from './live_page.js';
import { fillTokens, HONEST, LIE, linkOf, startOperator } from './operators.js';

const row = (symbol: string) => `#quorum [data-symbol=${symbol}]`;
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
      await untilText(page, `${row('BTCUSD')} .price`, '95,000.00');
      await untilText(page, `${row('ETHUSD')} .price`, '2,000.00');
      await untilText(page, `${row('BTCUSD')} .sealed`, '2 of 3');
      await untilText(page, operatorItem(2), /deviates: .*5\.00 % above the median/);
      await untilText(page, operatorItem(0), 'agrees');
      t.same([...sent].sort(), operators.map(({ service, token }) => `${service.url} ${token}`).sort());
      t.match(await untilText(page, '.votes', /99,750.*deviates/), /95,000\.00agrees/);
      t.equal(page.url(), url, 'the address has no token, and stays');

      b.prices = { BTCUSD: 90_000, ETHUSD: 1_900 };
      await untilText(page, `${row('BTCUSD')} .sealed`, 'the operators disagree');
      t.equal(await page.textContent(`${row('BTCUSD')} .price`), '—');
      b.prices = HONEST;
      await untilText(page, `${row('BTCUSD')} .price`, '95,000.00');
      c.prices = HONEST;
      await untilText(page, `${row('BTCUSD')} .sealed`, '3 of 3');

      await page.reload();
      await untilText(page, `${row('BTCUSD')} .price`, '95,000.00');
      await page.click('.bar .sign-out');
      await page.waitForSelector('#quorum input');
      t.equal(await page.evaluate('sessionStorage.length'), 0, 'no token is left');
    });
  });

  await t.test('a link cannot make the page ask an operator that its service does not name', async (t) => {
    let asked = 0;
    const stranger = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    t.teardown(() => void stranger.close());
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const link = linkOf(a.service.url, [named[0]!, named[1]!, [url, `0x${'ab'.repeat(20)}`]]);
    const context = await browser.newContext();
    t.teardown(() => context.close());
    const page = await context.newPage();
    await page.goto(link);
    await fillTokens(page, tokens);
    await untilText(page, operatorItem(2), 'listen.page_operators of this page does not name it');
    await untilText(page, `${row('BTCUSD')} .price`, '95,000.00');
    t.equal(asked, 0);
  });
});
