import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { LIVE_PAGE } from '../../src/server/live_page/page_files.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, untilSealed, withTab } from './live_page.js';

const ASSETS = 1_000;
const PAGE_BYTES_MAX = 200_000;
const SCROLL_STEPS = 120;
const STEP_PX = 300;
/** The time to wait for reports, because the browser reports a long task some time after it. */
const REPORT_MS = 500;

test('all that the page loads has at most 200 kB with gzip', async (t) => {
  const files = readdirSync(LIVE_PAGE.folder).filter((name) => name.endsWith('.gz'));
  const bytes = files.map((name) => statSync(fileURLToPath(new URL(name, LIVE_PAGE.folder))).size);
  const all = bytes.reduce((sum, size) => sum + size, 0);
  t.comment(`${files.length} files, ${all} bytes`);
  t.ok(files.length > 0 && all <= PAGE_BYTES_MAX);
});

test('with 1,000 assets only what is seen is drawn and subscribed', needsBrowser(), async (t) => {
  const assets = Array.from({ length: ASSETS }, (_, i) => ({
    id: i + 1,
    symbol: `A${String(i + 1).padStart(4, '0')}`,
    max_age: '1h',
  }));
  const service = await startTestService(t, { assets });
  const feed = await Feed.open(service);
  await feed.accept(...assets.map(({ symbol, id }) => ({ symbol, price: units(id) })));
  const browser = await launchBrowser(t);
  await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
    await untilSealed(page, 'verified');
    const drawn = () => page.locator('#grid [role=row]').count();
    const subscribed = async () =>
      Number(/(\d+) subscribed/.exec((await page.textContent('#count')) ?? '')?.[1]);
    t.ok((await drawn()) < 40, 'rows that are drawn');

    const { rowsMax, longTasks, longestMs } = await scroll(page);
    t.ok(rowsMax < 40, `${rowsMax} rows at most while it is scrolled`);
    t.comment(
      `${SCROLL_STEPS} frames, the longest ${longestMs.toFixed(1)} ms apart, ${longTasks} tasks of 50 ms and more`,
    );
    const rows = await untilSealed(page, 'verified');
    t.ok('A0800' in rows || 'A0820' in rows, `scrolled to ${Object.keys(rows)[0]}`);
    t.ok((await drawn()) < 40, 'rows are used again');
    t.ok((await subscribed()) < 40, 'assets that went out of sight are given up');
  });
});

interface Scrolled {
  /** The largest number of rows in a frame. */
  readonly rowsMax: number;
  /** The number of tasks of the page that took 50 ms or more. A busy machine causes some of them. */
  readonly longTasks: number;
  readonly longestMs: number;
}

/** Scrolls from the top in steps of one animation frame, as touch scrolling does. */
function scroll(page: Page): Promise<Scrolled> {
  return page.evaluate(`new Promise((resolve) => {
    const grid = document.getElementById('grid');
    grid.scrollTop = 0;
    let longTasks = 0;
    let rowsMax = 0;
    const observer = new PerformanceObserver((list) => { longTasks += list.getEntries().length; });
    const frames = [];
    const step = (nowMs) => {
      if (frames.length === 0) observer.observe({ entryTypes: ['longtask'] });
      frames.push(nowMs);
      rowsMax = Math.max(rowsMax, grid.querySelectorAll('[role=row]').length);
      grid.scrollTop += ${STEP_PX};
      if (frames.length < ${SCROLL_STEPS}) requestAnimationFrame(step);
      else setTimeout(() => {
        observer.disconnect();
        resolve({ rowsMax, longTasks, longestMs: Math.max(...frames.slice(1).map((ms, i) => ms - frames[i])) });
      }, ${REPORT_MS});
    };
    setTimeout(() => requestAnimationFrame(step), ${REPORT_MS});
  })`);
}
