import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { HANG_MS } from '../../scripts/load/wait.js';
import { serve } from '../local_server.js';

// A real browser for tests: headless Chromium, driven by playwright-core. Each test file has its own browser. Code for pages
// is text or a bundle, because the types of this project do not know the DOM.

/** The programs, best first. The headless shell has no windows, so it takes a third less CPU time. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];
/** The environment variable that selects a browser other than the first browser in `PATH`. */
const FILE_VARIABLE = 'TICKSEAL_TEST_BROWSER';

/** Returns the browser's program; `undefined` if there is none. */
export function findBrowser(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env[FILE_VARIABLE];
  if (named !== undefined) return isProgram(named) ? named : undefined;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/**
 * Returns the options of a test that needs a browser. Without a browser, the test is skipped and the output says so. On
 * continuous integration, the test runs and fails.
 */
export function needsBrowser(env: Readonly<Record<string, string | undefined>> = process.env): {
  readonly skip: string | false;
} {
  const isMissing = findBrowser(env) === undefined;
  return { skip: isMissing && env['CI'] !== 'true' && NO_BROWSER };
}

const NO_BROWSER = `there is no Chromium: install it, or name its file in ${FILE_VARIABLE}`;

/**
 * Starts the browser, and closes it when the test ends. The browser can reach only this machine, and all names under `.test`
 * resolve to this machine.
 * @throws Error if there is no browser
 */
export async function launchBrowser(t: Test): Promise<Browser> {
  const executablePath = findBrowser(process.env);
  if (executablePath === undefined) throw new Error(NO_BROWSER);
  const browser = await chromium.launch({
    executablePath,
    // The sandbox of Chromium does not work as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
  t.teardown(() => browser.close());
  // Playwright's default timeout is 30 s. A busy machine needs more time to load a page.
  browser.on('context', (context) => context.setDefaultTimeout(HANG_MS));
  return browser;
}

/** A file of {@link serveFiles}, by its path. */
export type ServedFiles = Readonly<Record<string, { readonly type: string; readonly text: string }>>;

/** Serves files on a separate port, with a policy if there is one. @returns their origin, which differs from the origin of each service */
export function serveFiles(t: Test, files: ServedFiles, policy?: string): Promise<string> {
  return serve(t, (request, response) => {
    const { type, text } = files[request.url ?? ''] ?? { type: 'text/plain', text: '' };
    response.setHeader('Content-Type', `${type}; charset=utf-8`);
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy);
    response.end(text);
  });
}

/** Serves an empty page. @returns its origin */
export function serveEmptyPage(t: Test): Promise<string> {
  const text = '<!doctype html><title>test</title><link rel="icon" href="data:,">';
  return serveFiles(t, { '/': { type: 'text/html', text } });
}

/**
 * Runs the text of a function's body in a page. In the body, `args` has the given arguments. @returns the result of the body,
 * through JSON
 */
export function runInPage<T>(page: Page, body: string, args: object = {}): Promise<T> {
  return page.evaluate<T>(`(async (args) => { ${body} })(${JSON.stringify(args)})`);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
