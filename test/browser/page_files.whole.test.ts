import { test } from 'tap';
import { PAGE_PATHS } from '../../src/wire/paths.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo } from './live_page.js';

test('the page loads again until no file of it is refused', needsBrowser(), async (t) => {
  const service = await startTestService(t, { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '1h' }] });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
  const browser = await launchBrowser(t);
  const page = await browser.newPage();
  const asked = new Map<string, number>();
  await page.route(`**${PAGE_PATHS.files}*`, (route) => {
    const { pathname } = new URL(route.request().url());
    const count = (asked.get(pathname) ?? 0) + 1;
    asked.set(pathname, count);
    // The first script cannot watch its own request.
    if (count > 1 || pathname.includes('/boot-')) return route.continue();
    return route.fulfill({
      status: 429,
      contentType: 'application/json',
      body: '{"error":"too many requests"}',
    });
  });
  await page.goto(linkTo(service.url, service.evmAddress));
  const told = page.getByRole('alert').filter({ hasText: 'loads again in a few seconds' });
  await told.waitFor();
  await page.waitForSelector('#grid [role=row][data-seal=verified]');
  t.equal(await told.count(), 0);
  const scripts = [...asked].filter(([path]) => path.endsWith('.js'));
  t.ok(scripts.length > 5, `${scripts.length} scripts`);
  await page.click('#verdict');
  await page.locator('#seal', { hasText: 'Your browser recovered this signer' }).waitFor();
});
