import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { LIVE_PAGE } from '../../src/server/live_page/page_files.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, shownRows, untilSealed, untilText, withTab } from './live_page.js';

// Tests of user actions on the live page: the list, the keyboard, links, past times, and small screens.

const ASSETS = 1_000;
const PAGE_BYTES_MAX = 200_000;
/** The largest number of rows that are drawn at a time. */
const DRAWN_MAX = 40;

test('all that the page loads has at most 200 kB with gzip', async (t) => {
  const files = readdirSync(LIVE_PAGE.folder).filter((name) => name.endsWith('.gz'));
  const bytes = files.map((name) => statSync(fileURLToPath(new URL(name, LIVE_PAGE.folder))).size);
  const all = bytes.reduce((sum, size) => sum + size, 0);
  t.ok(files.length > 0 && all <= PAGE_BYTES_MAX, `${files.length} files, ${all} bytes`);
});

test('a list of 1,000 assets', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const assets = Array.from({ length: ASSETS }, (_, i) => ({
    id: i + 1,
    symbol: `A${String(i + 1).padStart(4, '0')}`,
    class: i % 2 === 0 ? 'crypto' : 'metal',
    max_age: '1h',
  }));
  const service = await startTestService(t, { assets });
  const feed = await Feed.open(service);
  await feed.accept(...assets.map(({ symbol, id }) => ({ symbol, price: units(id) })));
  await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/candles') asked.push(searchParams.get('assets')!);
    });
    await page.reload();
    await untilSealed(page, 'verified');
    await eventually(() => page.evaluate(DRAWN_SPARKS));
    t.match(await page.textContent('#grid [role=row] .range'), /^\d[\d.]* – \d[\d.]*$/);
    t.ok(asked.length <= 3, `${asked.length} requests for the sparklines`);

    t.same(await page.locator('#groups button').allTextContents(), ['All', 'Crypto', 'Metal']);
    await page.click('#groups [data-group=metal]');
    await eventually(async () => /^A0002 A0004 A0006/.test(Object.keys(await shownRows(page)).join(' ')));
    t.equal(
      await page.getAttribute('#grid', 'aria-rowcount'),
      '501',
      'the heads of the columns and 500 assets',
    );
    await page.click('#groups [data-group=all]');
    await eventually(async () => 'A0001' in (await shownRows(page)));

    const rowsMax = await page.evaluate<number>(SCROLL);
    t.ok(rowsMax < DRAWN_MAX, `${rowsMax} rows at most while it is scrolled`);
    const rows = await untilSealed(page, 'verified');
    t.ok('A0800' in rows || 'A0820' in rows, `scrolled to ${Object.keys(rows)[0]}`);
    const subscribed = /(\d+) subscribed/.exec((await page.textContent('#count')) ?? '')?.[1];
    t.ok(Number(subscribed) < DRAWN_MAX, 'assets that went out of sight are given up');
  });
});

test('the reader of the live page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const prices: Record<string, number> = { BTCUSD: 100, ETHUSD: 200 };
  const assets = Object.keys(prices).map((symbol, i) => ({ id: i + 1, symbol }));
  const service = await startTestService(t, { assets });
  const feed = await Feed.open(service);
  const publish = () =>
    feed.accept(...assets.map(({ symbol }) => ({ symbol, price: units(prices[symbol]!) })));
  await publish();
  const publishing = setInterval(() => void publish(), 1_000);
  t.teardown(() => clearInterval(publishing));
  const link = linkTo(service.url, service.evmAddress);

  await t.test('search and keyboard', async (t) => {
    await withTab(t, { browser, url: link }, async (page) => {
      await untilSealed(page, 'verified');
      await page.locator('#grid a').first().focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await untilText(page, '#symbol', 'ETHUSD');
      await page.fill('#search', 'btc');
      await eventually(async () => Object.keys(await shownRows(page)).join() === 'BTCUSD');
      t.equal(await page.textContent('#symbol'), 'ETHUSD', 'the chosen asset stays');
      await page.fill('#search', 'zzz');
      await untilText(page, '#no-hit', 'No asset');
      await page.press('#search', 'Escape');
      await eventually(async () => Object.keys(await shownRows(page)).length === 2);
    });
  });

  await t.test('the chart has a read-out, a line against the aggregate, and a second asset', async (t) => {
    await withTab(t, { browser, url: `${link}&asset=BTCUSD` }, async (page) => {
      await untilText(page, '.legend', /^O 100\.000 H 10\d\.000 L 100\.000 C 100\.000 [+0]/);
      await untilText(page, '#agreement', /^Stream = aggregate, 0\.0 bp · 1 publisher · \d+/);
      const chart = async (pattern: RegExp) =>
        eventually(async () => pattern.test((await page.getAttribute('#chart', 'aria-label')) ?? ''));
      await page.selectOption('#compare', 'ETHUSD');
      await chart(/^BTCUSD: .* compared in percent with ETHUSD, the last one closes at 200$/);
      prices['ETHUSD'] = 210;
      await chart(/ closes at 210$/);
      await page.click('.legend-chip button');
      await chart(/^BTCUSD: (?!.*compared)/);
    });
    prices['ETHUSD'] = 200;
  });

  await t.test('the address follows the reader, and leads others to the same place', async (t) => {
    const path = (page: Page) => page.url().slice(service.url.length);
    await withTab(t, { browser, url: `${link}&asset=ethusd&resolution=15` }, async (page) => {
      await untilText(page, '#symbol', 'ETHUSD');
      await eventually(async () => (await page.title()) === '200.000 ETHUSD · verified');
      t.equal(path(page), '/#asset=ethusd&resolution=15');
      await page.locator('#grid [role=row]', { hasText: 'BTCUSD' }).click();
      await page.locator('.intervals label', { hasText: '1h' }).click();
      t.equal(path(page), '/#asset=BTCUSD&resolution=60');
      await page.goBack();
      await page.goBack();
      await untilText(page, '#symbol', 'ETHUSD');
      t.equal(await page.textContent('.intervals label:has(:checked)'), '15m');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.click('.head .copy');
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
      t.match(copied, `${service.url}/#asset=ETHUSD&resolution=15&signer=${service.evmAddress}`);
      t.notMatch(copied, 'token');
      await page.goto(`${service.url}/#asset=NOPE`);
      await untilText(page, '#notice', 'the asset NOPE');
    });
  });

  await t.test('a past time is shown with its price and proof, by picker and by link', async (t) => {
    await withTab(t, { browser, url: `${link}&asset=BTCUSD` }, async (page) => {
      await untilText(page, '.proof', 'Verified here');
      const signed = /Signed at(\S+) (\S+) UTC/.exec((await page.textContent('.proof')) ?? '')!;
      prices['BTCUSD'] = 101;
      await untilText(page, '#price', '101.000');
      await page.goto(`${service.url}/#asset=BTCUSD&at=${signed[1]}T${signed[2]}Z`);
      await untilText(page, '#verdict', `signed at ${signed[1]} ${signed[2]}`.replace(/0+$/, ''));
      await untilText(page, '#price', '100.000');
      await untilText(page, '.proof', 'signed before the instant');
      const second = new Date(Date.now() - 86_400_000).toISOString().slice(0, 19);
      await page.click('[popovertarget=travel]');
      await page.fill('#travel input', second.replace('T', ' '));
      await page.click('#travel [type=submit]');
      await untilText(page, '#verdict', 'before the signed prices that the service keeps: they begin at 20');
      t.equal(await page.textContent('#price'), '—');
      t.equal(page.url(), `${service.url}/#asset=BTCUSD&at=${second}Z`);
      await page.click('#time-now');
      await untilText(page, '#price', '101.000');
      await untilText(page, '#verdict', /^verified/);
      await page.goto(`${service.url}/#at=2026-13-01`);
      await untilText(page, '#notice', 'the time 2026-13-01, which is not a time');
    });
    prices['BTCUSD'] = 100;
  });

  await t.test('on a phone the list and the asset take turns', async (t) => {
    await withTab(t, { browser, url: link, width: 360 }, async (page) => {
      await untilSealed(page, 'verified');
      t.notOk(await page.isVisible('#price'));
      await untilFits(page);
      await page.locator('#grid [role=row]', { hasText: 'ETHUSD' }).click();
      await untilText(page, '.proof', 'Verified here');
      t.ok(await page.isVisible('#price'));
      t.notOk(await page.isVisible('#grid'));
      await page.goBack();
      await page.waitForSelector('#grid');
    });
  });

  await t.test('the page fits each screen', async (t) => {
    for (const width of [360, 768, 1440])
      await withTab(t, { browser, url: `${link}&asset=BTCUSD`, width }, async (page) => {
        await untilText(page, '.proof', 'Verified here');
        await untilFits(page);
      });
  });
});

/** Waits until the page is not wider than the screen. The chart takes its width only when the browser draws it. */
async function untilFits(page: Page): Promise<void> {
  await eventually(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'));
}

/** True when every visible row has its sparkline. */
const DRAWN_SPARKS = `(() => {
  const rows = [...document.querySelectorAll('#grid [role=row]:not([hidden])')];
  return rows.length > 0 && rows.every((row) => row.querySelector('.spark path').getAttribute('d') !== '');
})()`;

/** Scrolls in steps of one animation frame, as touch scrolling does. Returns the largest number of rows in a frame. */
const SCROLL = `new Promise((resolve) => {
  const grid = document.getElementById('grid');
  let rowsMax = 0;
  let frames = 0;
  const step = () => {
    rowsMax = Math.max(rowsMax, grid.querySelectorAll('[role=row]').length);
    grid.scrollTop += 300;
    frames += 1;
    if (frames < 120) requestAnimationFrame(step);
    else resolve(rowsMax);
  };
  requestAnimationFrame(step);
})`;
