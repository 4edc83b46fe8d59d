import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findBrowser } from '../test/browser/browser.js';

// Takes the pictures of README.md from the demo: the live page with an asset and its chart, dark and light.
//   node dist/scripts/screenshots.js

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SIZE = { width: 1280, height: 800 };
const START_MS_MAX = 60_000;
/** The time in which the demo fills its sparklines with prices. */
const FILL_MS = 20_000;
const SCHEMES = ['dark', 'light'] as const;

const executablePath = findBrowser(process.env);
if (executablePath === undefined) throw new Error('there is no Chromium: install chromium-headless-shell');
const folder = mkdtempSync(join(tmpdir(), 'tickseal-'));
const demo = spawn(
  process.execPath,
  [join(ROOT, 'dist/src/cli/main.js'), 'serve', '--port', '0', '--admin-port', '0', '--data', folder],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const url = await linkOf(demo.stdout);
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  for (const colorScheme of SCHEMES) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme });
    await page.goto(url);
    await page.waitForTimeout(FILL_MS);
    await page.screenshot({ path: join(ROOT, `.github/live-page-${colorScheme}.png`) });
    await page.close();
  }
  await browser.close();
} finally {
  demo.kill();
  await once(demo, 'exit');
  rmSync(folder, { recursive: true });
}

/** Returns the link of the live page, which the demo prints. */
async function linkOf(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  const end = AbortSignal.timeout(START_MS_MAX);
  for await (const part of output) {
    text += part;
    const found = /live page\s+(http\S+)/.exec(text)?.[1];
    if (found !== undefined) return found;
    end.throwIfAborted();
  }
  throw new Error(`the demo ended:\n${text}`);
}
