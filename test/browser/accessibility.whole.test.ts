import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { SERVICE_KEYS, startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, untilSealed, untilText } from './live_page.js';
import { fillTokens, HONEST, LIE, linkOf, startOperator } from './operators.js';

// Searches every page for accessibility faults, at every width, on light and on dark displays.

/** The script of axe, which finds accessibility faults. */
const AXE = readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8');
const WIDTHS = [360, 768, 1440, 2560];
/** The options of axe: all rules that it applies without options, and those of them that read colours. */
const ALL_RULES = { resultTypes: ['violations'] };
const COLOUR_RULES = { ...ALL_RULES, runOnly: ['color-contrast', 'link-in-text-block'] };
const SCHEMES = { light: ALL_RULES, dark: COLOUR_RULES };

test('everybody can read every page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const openPage = async (t: Test) => {
    const context = await browser.newContext({ bypassCSP: true });
    t.teardown(() => context.close());
    return context.newPage();
  };

  await t.test('the documents, the login and the live page', async (t) => {
    const file = { file: 'unused' };
    const log = { origin: 'prices.example.com/tlog', batch: '100ms', checkpoint: '200ms' };
    const service = await startTestService(
      t,
      { keys: { evm: file, stark: file, log: file }, log },
      { keys: { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) } },
    );
    const feed = await Feed.open(service);
    const page = await openPage(t);
    for (const path of ['/docs/', '/docs/prices.html', '/docs/streams.html', '/docs/client_options.html']) {
      await page.goto(`${service.url}${path}`);
      await examine(t, page, path);
    }
    await page.goto(service.url);
    await page.waitForSelector('#token');
    await examine(t, page, 'login');
    // A price is shown until it is a minute old, and the earlier pages may take longer on a busy machine.
    await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
    await page.goto(linkTo(service.url, service.evmAddress));
    await untilText(page, '.proof', 'Verified here');
    await examine(t, page, 'the live page');
    await feed.accept({ symbol: 'BTCUSD', price: units(95_001) });
    await page.click('#verdict');
    await page.waitForSelector('.steps');
    await untilText(page, '#verdict small', 'logged, no witness');
    await untilText(page, '#seal .log', 'Your browser verified that the public log');
    await examine(t, page, 'the card of the seal');
    await page.click('.forge button');
    await untilText(page, '#seal h2', 'Forged copy: refused');
    await examine(t, page, 'the card of the seal with a forged copy');
  });

  await t.test('the chosen asset on a phone, and a stale price', async (t) => {
    const service = await startTestService(t, { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '4s' }] });
    const feed = await Feed.open(service);
    await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
    const page = await openPage(t);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(`${linkTo(service.url, service.evmAddress)}&asset=BTCUSD`);
    await untilText(page, '#price', '95,000.00');
    await examine(t, page, 'the chosen asset');
    await page.setViewportSize({ width: 1440, height: 800 });
    await untilSealed(page, 'stale');
    await examine(t, page, 'a stale price');
  });

  await t.test('the page of several operators', async (t) => {
    const anyPage = { allowed_origins: ['*'] };
    const others = [await startOperator(t, 1, anyPage, HONEST), await startOperator(t, 2, anyPage, LIE)];
    const own = await startOperator(
      t,
      0,
      { page_operators: others.map(({ service }) => service.url) },
      HONEST,
    );
    const operators = [own, ...others];
    const named = operators.map(({ service }) => [service.url, service.evmAddress] as const);
    const page = await openPage(t);
    await page.goto(linkOf(own.service.url, named));
    await page.waitForSelector('#quorum input');
    await examine(t, page, 'the form of the tokens');
    await fillTokens(
      page,
      operators.map(({ token }) => token),
    );
    const row = '#quorum [data-symbol=BTCUSD]';
    await untilText(page, `${row} .sealed`, '2 of 3');
    await untilText(page, '.votes', 'deviates');
    await examine(t, page, 'the operators and their prices');
    await page.goto('about:blank');
    await page.goto(linkOf(own.service.url, named, '&token=secret'));
    await untilText(page, '#quorum .problem', 'must not contain a token');
    await examine(t, page, 'a link that cannot be used');
  });
});

/** Checks that axe finds no fault at any width. On a dark display only colours differ, so only rules of colours are checked again. */
async function examine(t: Test, page: Page, name: string): Promise<void> {
  await page.evaluate(AXE);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const [colorScheme, options] of Object.entries(SCHEMES)) {
      await page.emulateMedia({ colorScheme: colorScheme as keyof typeof SCHEMES });
      const faults = await page.evaluate(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].target + " " + nodes[0].any[0]?.message))`,
      );
      t.same(faults, [], `${name} at ${width} px, ${colorScheme}`);
    }
  }
}
