import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { ROOT } from '../pages.js';
import { runShell } from '../run_shell.js';
import { distinctNowNs, Feed, units } from '../service/feed.js';
import { sha256, startTestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, shownRows, untilSealed, untilText, withTab } from './live_page.js';

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
      const rows = await eventually(async () => {
        const shown = await shownRows(page);
        return shown['BTCUSD']?.change !== '' && shown;
      });
      t.match(rows, {
        BTCUSD: { price: '95,000.00', market: '24/7', change: '0.00%' },
        DYDXUSD: { price: '2.00000' },
      });
      await untilText(page, '#signer-chip', 'pinned on first use');
      t.notOk(await page.isVisible('#nodes'), 'a process that is alone has no nodes to show');
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
      t.equal(await page.evaluate('history.length'), 2, 'the blank page and this one');
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
        t.match(await page.textContent('.proof'), /Merkle root[\s\S]*0x[0-9a-f]{64}/);
        t.match(await page.textContent('.proof pre'), /median/i, 'the text of the algorithm');
        t.equal(await page.locator('.proof tbody tr').count(), 1, 'one publisher');
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
      const tops = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.steps label')].map((chip) => chip.getBoundingClientRect().top)`,
      );
      t.equal(new Set(tops).size, 1, 'the five chips stand in one row');
      const hit = `document.elementFromPoint(...(({ x, y }) => [x + 20, y + 20])(document.querySelector('.steps label').getBoundingClientRect())).tagName`;
      t.match(await page.evaluate(hit), /^(?:B|SPAN|LABEL)$/, 'no input covers a chip');
      await untilText(page, '#seal .absent', 'a public log, which this service does not have');
      t.ok(await page.isVisible('.step tbody tr'));
      await page.click('.steps [data-step=price]');
      await page.waitForSelector('.step tbody tr', { state: 'hidden' });
      const field = await page.getAttribute('.step[data-step=root] li', 'title');
      t.equal(field, 'publisher_merkle_root');
      const shown = await page.textContent('#price');
      const broken = new Set<string>();
      for (let turn = 0; turn < 4; turn++) {
        const copy = async () => (await page.locator('.forged pre').allTextContents()).join();
        const before = await copy();
        await page.locator('.forge button').first().click();
        await eventually(async () => (await copy()) !== before);
        t.equal(await page.textContent('#seal h2'), 'Forged copy: refused');
        const outcome = await page.textContent('.forged p');
        if (turn === 0) t.equal(outcome, '1 of 10 checks of the frame failed: signer.');
        else t.match(outcome, /checks of the aggregate failed/);
        t.ok(await page.isVisible('.step:not([hidden]) .checks [data-status=failed]'));
        for (const step of await page.locator('.steps [data-status=failed] b').allTextContents())
          broken.add(step);
        t.notMatch(
          await page.evaluate<string>(`document.querySelector('#seal').innerText`),
          /verified|checks passed/i,
        );
        t.equal(await page.locator('.forged ins').count(), 1);
      }
      t.same([...broken].sort(), ['Median', 'Publishers', 'Signature', 'You']);
      t.equal(await page.textContent('#price'), shown);
      t.notOk(await page.isVisible('#notice'));
      await page.click('#seal .forge button:last-of-type');
      await untilText(page, '#seal h2', 'BTCUSD: verified');
      await page.click('#seal .close');
      await page.waitForSelector('#seal', { state: 'hidden' });
      await page.click('#verdict');
      await page.keyboard.press('Escape');
      await page.waitForSelector('#seal', { state: 'hidden' });
      t.equal((await shownRows(page))['BTCUSD']?.seal, 'verified');
    });
  });

  await t.test('search and keyboard', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      await page.locator('#grid a').first().focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await untilText(page, '#symbol', 'DYDXUSD');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await untilText(page, '#symbol', 'BTCUSD');
      await page.fill('#search', 'dyd');
      await eventually(async () => Object.keys(await shownRows(page)).join() === 'DYDXUSD');
      t.equal(await page.textContent('#symbol'), 'BTCUSD', 'the chosen asset stays');
      await page.fill('#search', 'zzz');
      await untilText(page, '#no-hit', 'No asset');
      await page.press('#search', 'Escape');
      await eventually(async () => Object.keys(await shownRows(page)).length === 2);
    });
  });

  await t.test('on a phone the list and the asset take turns', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress), width: 360 }, async (page) => {
      await untilSealed(page, 'verified');
      const isWide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');
      t.notOk(await isWide());
      t.notOk(await page.isVisible('#price'));
      await page.locator('#grid [role=row]', { hasText: 'DYDXUSD' }).click();
      await untilText(page, '.proof', 'Verified here');
      t.ok(await page.isVisible('#price'));
      t.notOk(await page.isVisible('#grid'));
      t.notOk(await isWide());
      await page.goBack();
      t.ok(await page.isVisible('#grid'));
      // Shows the page as if some prices were simulated, with the longest state of the connection. A single script makes all
      // changes, so that the page cannot overwrite them in between.
      const bar = await page.evaluate<{ shown: number; width: number; room: number }>(`
        const tag = document.createElement('span');
        tag.id = 'simulation';
        tag.className = 'tag';
        tag.textContent = '6 real, 12 simulated';
        document.querySelector('.brand').after(tag);
        document.querySelector('#connection-chip span').textContent = 'Silent for 12.2 s';
        ({ shown: tag.clientWidth, width: document.documentElement.scrollWidth, room: innerWidth })`);
      t.ok(bar.shown > 0, 'a phone says that prices are simulated');
      t.equal(bar.width, bar.room);
    });
  });
});

/** Runs a shell command that the page copied to the clipboard. */
function runTickseal(line: string): Promise<string> {
  return runShell(`alias tickseal="node ${ROOT}dist/src/cli/main.js"\n${line}\necho status $?`);
}
