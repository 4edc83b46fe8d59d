import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, shownRows, untilSealed, untilText, withTab } from './live_page.js';

// Tests of the live page's list: groups and sparklines.

const CLASSES = ['crypto', 'metal'];
const ASSETS = Array.from({ length: 60 }, (_, i) => ({
  id: i + 1,
  symbol: `A${String(i + 1).padStart(2, '0')}USD`,
  name: `Asset ${i + 1}`,
  class: CLASSES[i % 2]!,
  max_age: '1h',
}));
/** The largest number of requests per second that a page may send. A token allows five, so some are left for other programs. */
const REQUESTS_PER_SECOND_MAX = 4;

test('the list of the live page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  const publish = (times: number) =>
    feed.accept(...ASSETS.map(({ symbol, id }) => ({ symbol, price: units(id * times) })));
  await publish(100);
  const url = linkTo(service.url, service.evmAddress);

  await t.test('the seal of a row opens the card of its asset', async (t) => {
    await withTab(t, { browser, url }, async (page) => {
      await untilSealed(page, 'verified');
      await page.locator('#grid [role=row]', { hasText: 'A03USD' }).locator('.sealed').click();
      await untilText(page, '#seal', 'A03USD: verified');
    });
  });

  await t.test('groups choose rows', async (t) => {
    await withTab(t, { browser, url }, async (page) => {
      await untilSealed(page, 'verified');
      t.same(await page.locator('#groups button').allTextContents(), ['All', 'Crypto', 'Metal']);
      await page.click('#groups [data-group=metal]');
      await eventually(async () =>
        /^A02USD A04USD A06USD/.test(Object.keys(await shownRows(page)).join(' ')),
      );
      t.equal(await page.getAttribute('#groups [data-group=metal]', 'aria-pressed'), 'true');
      t.equal(
        await page.getAttribute('#grid', 'aria-rowcount'),
        '31',
        'the heads of the columns and 30 assets',
      );
    });
  });

  await t.test('sparklines are read for all visible rows at once, and move nothing', async (t) => {
    await withTab(t, { browser, url }, async (page) => {
      const asked: (readonly string[])[] = [];
      let requests = 0;
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (/^\/(?:v1|udf)\//.test(pathname)) requests += 1;
        if (pathname === '/v1/candles') asked.push(searchParams.get('assets')!.split(','));
      });
      await page.reload();
      const startMs = performance.now();
      await untilSealed(page, 'verified');
      await page.evaluate(`
        window.shifted = [];
        new PerformanceObserver((list) => {
          for (const { sources } of list.getEntries())
            for (const { node, previousRect: from, currentRect: to } of sources)
              if (document.querySelector('.list').contains(node))
                window.shifted.push([node.className || node.parentNode.className + ' ' + node.data, from.x, from.y, from.width, to.x, to.y, to.width].join(' '));
        }).observe({ type: 'layout-shift' })`);
      await eventually(() => page.evaluate(DRAWN_SPARKS));
      await publish(101);
      await eventually(async () => (await shownRows(page))['A01USD']?.price === '101.000');
      const symbols = asked.flat();
      t.ok(asked.length <= 3, `${asked.length} requests for histories`);
      t.equal(new Set(symbols).size, symbols.length, 'each history is read once');
      t.ok(symbols.length < 30, `${symbols.length} histories for the rows in sight`);
      const seconds = (performance.now() - startMs) / 1_000;
      t.ok(requests / seconds < REQUESTS_PER_SECOND_MAX, `${requests} requests in ${seconds.toFixed(1)} s`);
      t.same(await page.evaluate('window.shifted'), [], 'no layout shift');
      t.match(await page.textContent('#grid [role=row] .range'), /^\d[\d.]* – \d[\d.]*$/);
    });
  });
});

test('the chosen asset of the live page beside others', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const assets = ['BTCUSD', 'ETHUSD'].map((symbol, i) => ({ id: i + 1, symbol, max_age: '1h' }));
  const service = await startTestService(t, { assets });
  const feed = await Feed.open(service);
  await feed.accept(...assets.map(({ symbol, id }) => ({ symbol, price: units(id * 100) })));
  const url = linkTo(service.url, service.evmAddress);

  await t.test('the chart has a read-out, and a line against the aggregate', async (t) => {
    await withTab(t, { browser, url: `${url}&asset=BTCUSD` }, async (page) => {
      await untilText(page, '.legend', /^O 100\.000 H 10\d\.000 L 100\.000 C 100\.000 [+0]/);
      await untilText(page, '#agreement', /^Stream = aggregate, 0\.0 bp · 1 publisher · \d+/);
    });
  });

  await t.test('two assets in one chart, by choice and by link', async (t) => {
    await withTab(t, { browser, url }, async (page) => {
      await untilSealed(page, 'verified');
      const chart = () => page.getAttribute('#chart', 'aria-label');
      await page.selectOption('#compare', 'ETHUSD');
      await eventually(async () =>
        /^BTCUSD: .* compared in percent with ETHUSD, the last one closes at 200$/.test(
          (await chart()) ?? '',
        ),
      );
      await feed.accept({ symbol: 'ETHUSD', price: units(210) });
      await eventually(async () => / closes at 210$/.test((await chart()) ?? ''));
      t.match(page.url(), /#compare=ETHUSD$/);
      await page.reload();
      await eventually(async () => / with ETHUSD, .* closes at 210$/.test((await chart()) ?? ''));
      await page.goBack();
      await eventually(async () => !/compared/.test((await chart()) ?? ''));
      t.equal(await page.inputValue('#compare'), '');
      await page.goForward();
      await eventually(async () => / with ETHUSD/.test((await chart()) ?? ''));
      await page.click('.legend-chip button');
      await eventually(async () => !/compared/.test((await chart()) ?? ''));
      await page.waitForSelector('.legend-chip', { state: 'detached' });
      await page.goBack();
      await untilText(page, '.legend-chip', 'ETHUSD');
      await page.locator('#grid [role=row]', { hasText: 'ETHUSD' }).click();
      await eventually(async () => /^ETHUSD: [^;]*$/.test((await chart()) ?? ''));
    });
  });
});

/** True when every visible row has its sparkline. */
const DRAWN_SPARKS = `(() => {
  const rows = [...document.querySelectorAll('#grid [role=row]:not([hidden])')];
  return rows.length > 0 && rows.every((row) => row.querySelector('.spark path').getAttribute('d') !== '');
})()`;
