import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { registerLog } from '../../src/cli/log_command.js';
import { runCommand } from '../cli/run_command.js';
import { signedPrice } from '../publiclog/witness/audited_log.js';
import { Feed, units } from '../service/feed.js';
import { SERVICE_KEYS, startTestService } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, untilText, withTab } from './live_page.js';

test('the page saves evidence that a command verifies offline', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const dir = t.testdir();
  const file = { file: 'unused' };
  const service = await startTestService(
    t,
    {
      keys: { evm: file, stark: file, log: file },
      log: { origin: 'prices.example.com/tlog', batch: '100ms', checkpoint: '200ms' },
      assets: [{ id: 1, symbol: 'BTCUSD', max_age: '1h' }],
    },
    { keys: { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) } },
  );
  const { log } = (await (await fetch(`${service.url}/v1/signers`)).json()) as { log: { policy: string } };
  const policy = join(dir, 'tickseal.policy');
  writeFileSync(policy, log.policy);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
  const save = async (page: Page, button: string) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click(`#seal .log button:text-is("${button}")`),
    ]);
    const path = join(dir, download.suggestedFilename());
    await download.saveAs(path);
    return path;
  };
  const link = linkTo(service.url, service.evmAddress);
  const signer = ['--signer', service.evmAddress];

  await t.test('a price in the log', async (t) => {
    await withTab(t, { browser, url: `${link}&asset=BTCUSD` }, async (page) => {
      await untilText(page, '#verdict small', 'logged, no witness');
      await page.click('#verdict');
      await untilText(page, '#seal .log', 'Your browser verified');
    });
  });

  await t.test('evidence of a price that only this reader was shown', async (t) => {
    const timeNs = BigInt(Date.now() - 1_000) * 1_000_000n;
    const forged = signedPrice(timeNs, 94_000n * 10n ** 18n, 'BTCUSD', SERVICE_KEYS.evm);
    const at = new Date(Date.now() - 500).toISOString();
    await withTab(t, { browser, url: service.url }, async (page) => {
      await page.route('**/v1/prices/at*', (route) =>
        route.fulfill({
          contentType: 'application/json',
          body: `{"data":{"BTCUSD":${forged.replace(',"signed_prices":[]', '')}}}`,
        }),
      );
      await page.goto(`${link}&asset=BTCUSD&at=${at}`);
      await untilText(page, '#verdict small', 'the log denies this price');
      await page.click('#verdict');
      await untilText(page, '#seal .log', 'does not have it. Save the evidence');
      const evidence = await save(page, 'Save the evidence');
      const proven = await runCommand(registerLog, [
        'log',
        'verify',
        evidence,
        ...signer,
        '--policy',
        policy,
      ]);
      t.equal(proven.exitCode, 0, proven.stderr);
      t.match(proven.stdout, [
        /^PROVEN: 0x\w+ signed BTCUSD at \d+ ns, and batch \d+ of \S+ does not have it$/,
      ]);
    });
  });
});
