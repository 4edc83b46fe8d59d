import { test } from 'tap';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, untilText, withTab } from './live_page.js';

// Tests of the layout of the live page and of the documents on each screen.

test('the layout of the live page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const service = await startTestService(t, { assets: [{ id: 1, symbol: 'BTCUSD' }] });
  const feed = await Feed.open(service);
  const publish = () => feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
  await publish();
  const publishing = setInterval(() => void publish(), 1_000);
  t.teardown(() => clearInterval(publishing));
  const url = linkTo(service.url, service.evmAddress);

  await t.test('no frame is drawn before the reader uses a key', async (t) => {
    await withTab(t, { browser, url, width: 360 }, async (page) => {
      await page.waitForSelector('#grid [role=row]:not([hidden])');
      const outlined = () => page.evaluate('document.querySelectorAll(":focus-visible").length');
      t.equal(await outlined(), 0);
      await page.locator('#grid [role=row]', { hasText: 'BTCUSD' }).click();
      await untilText(page, '#price', '95,000.00');
      await page.goBack();
      await page.waitForSelector('#grid');
      t.equal(await outlined(), 0);
      await page.keyboard.press('Tab');
      t.equal(await outlined(), 1);
    });
  });

  await t.test('nothing overlaps beside the chosen asset', async (t) => {
    for (const width of [360, 768, 1024, 1440, 2560])
      await withTab(t, { browser, url: `${url}&asset=BTCUSD`, width }, async (page) => {
        await untilText(page, '.proof', 'Verified here');
        const overlaps = await page.evaluate<string[]>(`(() => {
          const parts = [...document.querySelectorAll('.bar > *, .states > *, .head > *, .choices > *, .chart-frame, #agreement, .under > *')]
            .filter((part) => part.checkVisibility() && part.getClientRects().length > 0);
          return parts.flatMap((one, i) => parts.slice(i + 1).flatMap((other) => {
            if (one.contains(other)) return [];
            const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
            const isApart = a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
            return isApart ? [] : [one.id + one.className + ' ' + other.id + other.className];
          }));
        })()`);
        t.same(overlaps, [], `${width} px`);
        t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'));
      });
  });
});
