import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { ROOT } from '../pages.js';
import { runShell } from '../run_shell.js';
import { distinctNowNs, Feed, units } from '../service/feed.js';
import { sha256, startTestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, shownRows, untilSealed, untilText, withTab } from './live_page.js';

/** The script of axe, which finds accessibility faults. */
const AXE = readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8');
const WIDTHS = [360, 768, 1440];
/** The options of axe: all rules that it applies without options, and those of them that read colours. */
const ALL_RULES = { resultTypes: ['violations'] };
const COLOUR_RULES = { ...ALL_RULES, runOnly: ['color-contrast', 'link-in-text-block'] };
const SCHEMES = { light: ALL_RULES, dark: COLOUR_RULES };

test('the live page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  let aheadNs = 0n;
  const nowNs = () => (BigInt(Date.now()) * 1_000_000n + aheadNs) as TimeNs;
  const service = await startTestService(t, {}, { clock: { nowNs } });
  const signedNs = () => distinctNowNs() + aheadNs;
  const evm = await Feed.open(service, { nowNs: signedNs });
  const stark = await Feed.open(service, { type: 'stark', nowNs: signedNs });
  let price = 95_000;
  const publish = async () => {
    await evm.accept({ symbol: 'BTCUSD', price: units(price) });
    await stark.accept({ symbol: 'DYDXUSD', price: units(2) });
  };
  // Each step waits for the previous step. If the clock moved while an update was in transit, the update would be too old.
  let last: Promise<void> = Promise.resolve();
  const inTurn = (step: () => void | Promise<void>) => {
    last = last.then(step);
    return last;
  };
  await inTurn(publish);
  const publishing = setInterval(() => void inTurn(publish), 1_000);
  t.teardown(() => clearInterval(publishing));

  await t.test('without a token it asks for one, and keeps it in the tab alone', async (t) => {
    await withTab(t, { browser, url: service.url }, async (page) => {
      await page.fill('#token', 'wrong');
      await page.click('#login button');
      await untilText(page, '#login .problem', 'refused');
      await page.fill('#token', TOKEN);
      await page.click('#login button');
      await untilSealed(page, 'verified');
      t.match(await shownRows(page), {
        BTCUSD: { price: '95,000.00', market: '24/7' },
        DYDXUSD: { price: '2.00000' },
      });
      await untilText(page, '#signer-chip', 'pinned on first use');
      const stored = JSON.stringify(await page.evaluate('({ ...localStorage })'));
      t.notMatch(stored, TOKEN);
      t.match(stored, new RegExp(service.evmAddress));
      await page.reload();
      await untilSealed(page, 'verified');
      await page.click('.bar .sign-out');
      await page.waitForSelector('#login:not([hidden])');
      t.same(await page.evaluate('sessionStorage.getItem("tickseal.token")'), null);
    });
  });

  await t.test('with a public token a link without a token opens for everybody', async (t) => {
    const tokens = [{ name: 'everybody', sha256: sha256('public'), scopes: ['rest', 'stream'] }];
    const open = await startTestService(t, { listen: { page_token: 'public' }, tokens });
    await withTab(t, { browser, url: `${open.url}/#asset=BTCUSD` }, async (page) => {
      await untilText(page, '#symbol', 'BTCUSD');
      t.equal(await page.evaluate('sessionStorage.getItem("tickseal.token")'), null);
      await page.locator('.bar .sign-out', { hasText: 'Sign in' }).click();
      await untilText(page, '#login .problem', 'open with the public token');
    });
  });

  await t.test('a link logs in and pins, and does not stay in the address', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      await untilText(page, '#signer-chip', 'pinned by the link');
      t.equal(page.url(), `${service.url}/#`);
      const other = `0x${'ab'.repeat(20)}`;
      await page.goto(linkTo(service.url, other));
      const text = await untilText(page, '#notice', 'not pinned');
      t.match(text, service.evmAddress);
      t.same((await untilSealed(page, 'not pinned'))['BTCUSD']?.price, '—');
      await page.click('#notice button');
      t.match((await untilSealed(page, 'verified'))['BTCUSD']?.price, /^9/);
      await untilText(page, '#signer-chip', 'pinned by you');
      t.notOk(await page.isVisible('#notice'));
    });
  });

  await t.test('prices move, and the chart goes on', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      /** Reads the chart's accessible description. */
      const candles = async (last: number) => {
        const text = (await page.getAttribute('#chart', 'aria-label')) ?? '';
        const [, count, close] = /: (\d+) candles .* closes at (\d+)/.exec(text) ?? [];
        return Number(close) === last && Number(count);
      };
      const before = await eventually(() => candles(95_000));
      price = 95_100;
      await untilText(page, '#price', '95,100.00');
      const moved = await eventually(() => candles(95_100));
      await inTurn(() => {
        aheadNs += 180n * NS_PER_SECOND;
        price = 95_200;
      });
      const after = await eventually(() => candles(95_200));
      t.ok(moved >= before && after > moved, `${before}, ${moved}, then ${after} candles`);
      t.equal((await shownRows(page))['BTCUSD']?.price, '95,200.00');
      const names = (selector: string) => page.locator(`.intervals ${selector}`).allTextContents();
      const [usual, others] = [await names('label'), await names('option:not(:first-child)')];
      t.equal(usual.length + others.length, 13);
      for (const name of [...usual, ...others]) {
        if (usual.includes(name)) await page.locator('.intervals label', { hasText: name }).first().click();
        else await page.selectOption('.intervals select', { label: name });
        await eventually(async () => (await page.textContent('.intervals label:has(:checked)')) === name);
        t.equal(await page.inputValue('.intervals select'), 'More');
        await eventually(() => candles(95_200));
      }
    });
  });

  await t.test('the proof of an asset verifies elsewhere too', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      for (const symbol of ['BTCUSD', 'DYDXUSD']) {
        await page.locator('#grid [role=row]', { hasText: symbol }).click();
        await untilText(page, '#symbol', symbol);
        await untilText(page, '.proof', 'Verified here');
        t.match(await page.textContent('.proof pre'), /median/i, 'the text of the algorithm');
        await page.click('#verdict');
        await page.click('.copies button');
        const command = (await page.evaluate('navigator.clipboard.readText()')) as string;
        t.match(await runTickseal(command), `${symbol}: verified\nstatus 0\n`);
        await page.keyboard.press('Escape');
      }
    });
  });

  await t.test('the seal explains itself, and a forged copy breaks in the right place', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilText(page, '.proof', 'Verified here');
      await page.locator('#grid [role=row] .sealed').first().click();
      await untilText(page, '#seal', 'It is the key pinned by the link');
      t.match(await page.textContent('#seal'), new RegExp(service.evmAddress));
      const titles = await page.locator('.steps b').allTextContents();
      t.same(titles, ['Publishers', 'Median', 'Merkle root', 'Signature', 'You']);
      await untilText(page, '#seal .absent', 'a public log, which this service does not have');
      const shown = await page.textContent('#price');
      const broken = new Set<string>();
      for (let turn = 0; turn < 4; turn++) {
        const copy = async () => (await page.locator('.forged pre').allTextContents()).join();
        const before = await copy();
        await page.locator('.forge button').first().click();
        await eventually(async () => (await copy()) !== before);
        t.equal(await page.textContent('#seal h2'), 'Forged copy: refused');
        t.match(
          await page.textContent('.forged p'),
          turn === 0 ? '1 of 10 checks of the frame failed: signer.' : 'checks of the aggregate failed',
        );
        for (const step of await page.locator('.steps [data-status=failed] b').allTextContents())
          broken.add(step);
        t.notMatch(
          await page.evaluate<string>(`document.querySelector('#seal').innerText`),
          /verified|checks passed/i,
        );
      }
      t.same([...broken].sort(), ['Median', 'Publishers', 'Signature', 'You']);
      t.equal(await page.textContent('#price'), shown);
      t.notOk(await page.isVisible('#notice'));
      await page.click('#seal .forge button:last-of-type');
      await untilText(page, '#seal h2', 'BTCUSD: verified');
      await page.keyboard.press('Escape');
      await page.waitForSelector('#seal', { state: 'hidden' });
      t.equal((await shownRows(page))['BTCUSD']?.seal, 'verified');
    });
  });

  await t.test('everybody can read the documents, the login, the live page and its seal', async (t) => {
    const context = await browser.newContext({ bypassCSP: true });
    t.teardown(() => context.close());
    const page = await context.newPage();
    for (const path of ['/docs/', '/docs/prices.html']) {
      await page.goto(`${service.url}${path}`);
      await examine(t, page, path);
    }
    await page.goto(service.url);
    await page.waitForSelector('#token');
    await examine(t, page, 'login');
    await page.goto(linkTo(service.url, service.evmAddress));
    await untilText(page, '.proof', 'Verified here');
    await examine(t, page, 'the live page');
    await page.click('#verdict');
    await page.click('.forge button');
    await untilText(page, '#seal h2', 'Forged copy: refused');
    await examine(t, page, 'the card of the seal with a forged copy');
  });
});

/** Runs a shell command that the page copied to the clipboard. */
function runTickseal(line: string): Promise<string> {
  return runShell(`alias tickseal="node ${ROOT}dist/src/cli/main.js"\n${line}\necho status $?`);
}

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
