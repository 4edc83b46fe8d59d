import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, untilSealed, untilText, withTab } from './live_page.js';

// Tests of the layout of the live page and of the documents on each screen.

/** The distance of two places to which a test moves the chart; a time on the axis is about 30 px wide. */
const STEP_PX = 8;

test('the layout of the live page', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const service = await startTestService({ assets: [{ id: 1, symbol: 'BTCUSD' }] });
  t.teardown(() => service.stop());
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
      await page.keyboard.press('ArrowDown');
      await page.waitForSelector('#price');
      await page.keyboard.press('Escape');
      await page.waitForSelector('#grid');
      // The row where the reader was is marked, and not the whole list.
      const style = (selector: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).outlineStyle`);
      t.equal(await page.evaluate('document.activeElement.id'), 'grid');
      t.equal(await style('#grid'), 'none');
      t.equal(await style('#grid [aria-selected=true]'), 'solid');
    });
  });

  await t.test('the longest state of the connection stays inside a narrow screen', async (t) => {
    await withTab(t, { browser, url, width: 360 }, async (page) => {
      await page.waitForSelector('#grid [role=row]:not([hidden])');
      const right = await page.evaluate<number>(`(() => {
        document.querySelector('#connection-chip span').textContent = 'Live · 3.8 s gap';
        return document.querySelector('#connection-chip').getBoundingClientRect().right;
      })()`);
      t.ok(right <= 360, `${right} px`);
    });
  });

  await t.test('the chart grows with the window', async (t) => {
    await withTab(t, { browser, url, width: 1440 }, async (page) => {
      await untilSealed(page, 'verified');
      const room = () =>
        page.evaluate<{ width: number; height: number }>(`(() => {
          const { width, height } = document.querySelector('#chart').getBoundingClientRect();
          return { width: width / innerWidth, height };
        })()`);
      const small = await room();
      t.ok(small.width >= 0.6, `${small.width} of the width`);
      await page.setViewportSize({ width: 2560, height: 1440 });
      const large = await room();
      t.ok(large.width > small.width && large.height > 1.5 * small.height, JSON.stringify(large));
      await page.setViewportSize({ width: 1024, height: 768 });
      const list = await page.evaluate<number>(
        `document.querySelector('.list').getBoundingClientRect().width`,
      );
      t.ok(list <= 280, `the list has ${list} px`);
      const compact = await room();
      t.ok(compact.width >= 0.65, `${compact.width} of the width beside the list`);
    });
  });

  await t.test('every time of the axis is whole, wherever the reader moves the chart', async (t) => {
    await withTab(t, { browser, url: `${url}&asset=BTCUSD`, width: 1440 }, async (page) => {
      // Records the left edge of each text that the axis of time writes in its own canvas.
      await page.addInitScript(`{
        const { fillText } = CanvasRenderingContext2D.prototype;
        window.times = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
          if (this.textAlign === 'center' && this.canvas.closest('#chart tr:last-child'))
            window.times.push([text, x - this.measureText(text).width / 2]);
          return fillText.call(this, text, x, ...rest);
        };
      }`);
      await page.reload();
      await eventually(async () =>
        /\d candles/.test((await page.getAttribute('#chart', 'aria-label')) ?? ''),
      );
      const chart = (await page.locator('#chart').boundingBox())!;
      const [x, y] = [chart.x + chart.width / 2, chart.y + chart.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      for (let step = 0; step < chart.width; step += STEP_PX) await page.mouse.move(x - step, y);
      await page.mouse.up();
      const times = await page.evaluate<[string, number][]>('window.times');
      t.ok(times.length > 10, `${times.length} times`);
      t.same(
        times.filter(([, left]) => left < 0),
        [],
        'no time is cut',
      );
    });
  });

  await t.test('nothing overlaps beside the chosen asset', async (t) => {
    for (const width of [360, 768, 1024, 1440, 2560])
      await withTab(t, { browser, url: `${url}&asset=BTCUSD`, width }, async (page) => {
        await untilText(page, '.proof', 'Verified here');
        const overlaps = await page.evaluate<string[]>(`(() => {
          const parts = [...document.querySelectorAll('.bar > *, .states > *, .head > *, .choices > *, .tools > *, #time > *, .chart-frame, #agreement, .under > *')]
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

  await t.test('the menu of the documents is one line on a phone', async (t) => {
    await withTab(t, { browser, url: `${service.url}/docs/`, width: 360 }, async (page) => {
      const lines = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.bar a')].map((link) => link.getClientRects().length)`,
      );
      t.ok(
        lines.every((count) => count <= 1),
        String(lines),
      );
      t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'));
      await page.emulateMedia({ media: 'print' });
      t.notOk(await page.isVisible('nav'));
    });
  });
});
