import type { Page } from 'playwright-core';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, untilSealed, untilText, withTab } from './live_page.js';

// Tests of user actions on the live page, by keyboard and by links.

const LONG = 'A_SYMBOL_WITH_SIXTY_FOUR_CHARACTERS_WHICH_IS_THE_MOST_THAT_FITS';
const PRICES: Record<string, number> = { BTCUSD: 100, ETHUSD: 200, [LONG]: 123_456_789_012 };

test('the reader of the live page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const assets = Object.keys(PRICES).map((symbol, i) => ({ id: i + 1, symbol }));
  const service = await startTestService(t, { assets });
  const feed = await Feed.open(service);
  const publish = () =>
    feed.accept(...assets.map(({ symbol }) => ({ symbol, price: units(PRICES[symbol]!) })));
  await publish();
  const publishing = setInterval(() => void publish(), 1_000);
  t.teardown(() => clearInterval(publishing));
  const link = linkTo(service.url, service.evmAddress);

  await t.test(
    'a proof that is read anew leaves the focus where it is, and an old one says so',
    async (t) => {
      await withTab(t, { browser, url: link }, async (page) => {
        await untilText(page, '.proof', 'Verified here');
        await page.click('#verdict');
        await page.focus('#seal .copies button');
        const before = await page.textContent('.step[data-step=signature] dd:last-child');
        await eventually(
          async () => (await page.textContent('.step[data-step=signature] dd:last-child')) !== before,
        );
        t.ok(await page.evaluate('document.activeElement.matches("#seal .copies button")'));
        await page.route('**/v1/prices/latest*', async (route) => {
          const body = await (await route.fetch()).text();
          // The new timestamps are an hour before the signature.
          const seconds = /(?<="timestamp":"?)\d{10}/g;
          await route.fulfill({ body: body.replace(seconds, (second) => String(Number(second) - 3_600)) });
        });
        await untilText(page, '.proof', /signed its newest aggregate (?:60 min|1 h) ago/);
        await untilText(page, '.proof > .verdict', /checks of the aggregate failed/);
      });
    },
  );

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
      await page.goForward();
      await page.goForward();
      await untilText(page, '#symbol', 'BTCUSD');
      t.equal(await page.textContent('.intervals label:has(:checked)'), '1h');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.click('.head .copy');
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
      t.match(copied, `${service.url}/#asset=BTCUSD&resolution=60&signer=${service.evmAddress}`);
      t.notMatch(copied, 'token');
      await page.goto(`${service.url}/#asset=NOPE`);
      await untilText(page, '#notice', 'the asset NOPE');
    });
    await withTab(t, { browser, url: `${link}&asset=ETHUSD`, width: 360 }, async (page) => {
      await untilText(page, '#symbol', 'ETHUSD');
      t.ok(await page.isVisible('#price'));
      t.equal(await page.getByRole('button', { name: 'pinned by the link' }).count(), 1);
      await page.click('#back');
      await page.waitForSelector('#grid');
      await page.goBack();
      await page.waitForSelector('#price');
    });
  });

  await t.test('a past time is shown with its price and proof, by picker and by link', async (t) => {
    await withTab(t, { browser, url: `${link}&asset=BTCUSD` }, async (page) => {
      await untilText(page, '.proof', 'Verified here');
      const signed = /Signed at(\S+) (\S+) UTC/.exec((await page.textContent('.proof')) ?? '')!;
      const atNs = BigInt(Date.now()) * 1_000_000n;
      PRICES['BTCUSD'] = 101;
      await untilText(page, '#price', '101.000');
      await page.goto(`${service.url}/#asset=BTCUSD&at=${signed[1]}T${signed[2]}Z`);
      await untilText(page, '#verdict', `signed at ${signed[1]} ${signed[2]}`.replace(/0+$/, ''));
      await untilText(page, '#price', '100.000');
      await eventually(async () => /^100\.000 BTCUSD · verified · 20\d\d-/.test(await page.title()));
      await untilText(page, '.proof', 'signed before the instant');
      await untilText(page, '.steps [data-step=price]', 'Median 100');
      const second = new Date(Number(atNs / 1_000_000n) - 86_400_000).toISOString().slice(0, 19);
      await page.click('[popovertarget=travel]');
      await page.fill('#travel input', second.replace('T', ' '));
      await page.click('#travel [type=submit]');
      await page.waitForSelector('#travel', { state: 'hidden' });
      await untilText(page, '#verdict', 'before the signed prices that the service keeps: they begin at 20');
      t.equal(await page.textContent('#price'), '—');
      t.match(await page.title(), /^BTCUSD · no price · 20/);
      t.equal(page.url(), `${service.url}/#asset=BTCUSD&at=${second}Z`);
      await page.click('#time-now');
      await untilText(page, '#price', '101.000');
      await untilText(page, '#verdict', /^verified/);
      await page.goBack();
      await untilText(page, '#time-text', second.replace('T', ' '));
      await page.click('[popovertarget=travel]');
      await page.locator('#travel button', { hasText: 'A day ago' }).click();
      await untilText(page, '#verdict', 'before the signed prices');
      t.match(page.url(), /&at=20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      await page.goto(`${service.url}/#at=2026-13-01`);
      await untilText(page, '#notice', 'the time 2026-13-01, which is not a time');
    });
    PRICES['BTCUSD'] = 100;
  });

  await t.test('a link with a wrong key is not used, and that is said', async (t) => {
    const wrong = service.evmAddress.slice(0, -1);
    await withTab(t, { browser, url: linkTo(service.url, wrong) }, async (page) => {
      await untilText(page, '#notice', `${wrong} is no key`);
      t.ok(await page.isVisible('#login'));
      t.equal(await page.evaluate('sessionStorage.getItem("tickseal.token")'), null);
      await follow(page, link);
      await untilSealed(page, 'verified');
      await follow(page, linkTo(service.url, wrong));
      await untilText(page, '#notice', `${wrong} is no key`);
      await untilText(page, '#signer-chip', 'pinned by the link');
      await untilSealed(page, 'verified');
      t.ok(await page.isVisible('#notice'));
    });
  });
});

/** Opens a link of the page in the same tab. The fragment changes, and then the test reloads the page. */
async function follow(page: Page, link: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.goto(link)]);
}
