import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { findBrowser, launchBrowser, needsBrowser, runInPage, serveEmptyPage } from './browser.js';

test('a browser is found on the path, or where a variable names it', async (t) => {
  const dir = t.testdir({ other: {} });
  const programs = ['chromium', 'other/google-chrome'].map((name) => join(dir, name));
  const [chromium, chrome] = programs as [string, string];
  const PATH = `${dir}:${join(dir, 'other')}`;
  t.equal(findBrowser({ PATH }), undefined);
  for (const program of programs) writeFileSync(program, '', { mode: 0o755 });
  t.equal(findBrowser({ PATH }), chromium);
  t.equal(findBrowser({ PATH, TICKSEAL_TEST_BROWSER: chrome }), chrome);
  t.equal(findBrowser({ PATH, TICKSEAL_TEST_BROWSER: join(dir, 'none') }), undefined);
  const shell = join(dir, 'other/chromium-headless-shell');
  writeFileSync(shell, '', { mode: 0o755 });
  t.equal(findBrowser({ PATH }), shell, 'the headless shell first');
  t.equal(findBrowser({}), undefined);
});

test('without a browser a test is skipped, but not on continuous integration', async (t) => {
  t.match(needsBrowser({ PATH: '/nowhere' }), { skip: /no Chromium/ });
  t.same(needsBrowser({ PATH: '/nowhere', CI: 'true' }), { skip: false });
});

test('the browser opens a page, and reaches nothing but this machine', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const page = await browser.newPage();
  await page.goto(await serveEmptyPage(t));
  t.equal(await page.title(), 'test');
  t.same(await runInPage(page, 'return [document.title, args.one]', { one: 1 }), ['test', 1]);
  await t.rejects(page.goto('http://tickseal.example/'), /ERR_NAME_NOT_RESOLVED/);
});
