import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { eventually, HANG_MS } from '../../scripts/load/wait.js';
import { TOKEN } from '../service/harness.js';

// Helpers with which the tests read the live page.

/**
 * Opens a page with an empty storage. Afterwards checks that the page connected only to the expected origins and did not
 * violate its policy.
 */
export async function withTab(
  t: Test,
  {
    browser,
    url,
    width = 1280,
    operators = [],
  }: {
    readonly browser: Browser;
    readonly url: string;
    readonly width?: number;
    /** The origins of other operators that the page may ask. */
    readonly operators?: readonly string[];
  },
  run: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height: 800 } });
  try {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      // Refused requests also appear here, and some tests cause them deliberately.
      if (message.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(message.text()))
        problems.push(message.text());
    });
    page.on('pageerror', ({ message }) => problems.push(message));
    const origins = [new URL(url).origin, ...operators];
    page.on('request', (request) => {
      if (!origins.includes(new URL(request.url()).origin)) problems.push(`it asked ${request.url()}`);
    });
    const answer = await page.goto(url);
    // Every wait for a part of a page that is not served would last as long as a hang.
    if (answer?.ok() !== true) throw new Error(`the page is not served: HTTP ${answer?.status()}`);
    await run(page);
    t.same(problems, [], 'the page keeps to its origin and its policy');
  } finally {
    await context.close();
  }
}

/** Returns the address of the page. The part after `#` is as in the demo's link. */
export function linkTo(url: string, signer?: string): string {
  return `${url}/#token=${TOKEN}${signer === undefined ? '' : `&signer=${signer}`}`;
}

/** The content of a row of the table. */
export interface ShownRow {
  readonly price: string;
  readonly seal: string;
  readonly market: string;
  readonly change: string;
}

/** Returns all drawn rows by symbol. */
export function shownRows(page: Page): Promise<Record<string, ShownRow>> {
  return page.evaluate(`Object.fromEntries([...document.querySelectorAll('#grid [role=row]:not([hidden])')].map((row) => {
    const text = (name) => row.querySelector('.' + name).textContent;
    return [text('symbol'), { price: text('price'), seal: row.dataset.seal, market: text('market'), change: text('change') }];
  }))`);
}

/** Waits until every drawn row has the seal. @returns the rows */
export function untilSealed(page: Page, seal: string): Promise<Record<string, ShownRow>> {
  let seen: Record<string, ShownRow> = {};
  return eventually(
    async () => {
      seen = await shownRows(page);
      const rows = Object.values(seen);
      return rows.length > 0 && rows.every((row) => row.seal === seal) && seen;
    },
    { what: `every row ${seal}` },
  ).catch((error) => {
    throw new Error(`${error.message}: ${JSON.stringify(seen).slice(0, 500)}`);
  });
}

/** Waits until the element's text equals `wanted`, or matches it. */
export function untilText(
  page: Page,
  selector: string,
  wanted: string | RegExp,
  withinMs = HANG_MS,
): Promise<string> {
  let text = '';
  return eventually(
    async () => {
      text = (await page.locator(selector).textContent()) ?? '';
      return (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) && text;
    },
    { what: `${selector} with ${wanted}`, withinMs },
  ).catch((error) => {
    throw new Error(`${error.message}: ${text}`);
  });
}
