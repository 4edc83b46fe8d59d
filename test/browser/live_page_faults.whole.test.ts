import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerLog } from '../../src/cli/log_command.js';
import { decodePayload, type Payload } from '../../src/client/index.js';
import { parseEvidence } from '../../src/client/verify/evidence_file.js';
import { verifyEvidence } from '../../src/client/verify/log_evidence.js';
import { PAGE_PATHS } from '../../src/wire/paths.js';
import { SIMPLIFIED_LAYOUT, VERSIONED_LAYOUT } from '../../src/wire/payload_fields.js';
import { runCommand } from '../cli/run_command.js';
import { signed } from '../client/signed_payload.js';
import { signedPrice } from '../publiclog/witness/audited_log.js';
import { Feed, units } from '../service/feed.js';
import { SERVICE_KEYS, startTestService } from '../service/harness.js';
import { TcpProxy } from '../tcp_proxy.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, shownRows, untilSealed, untilText, withTab } from './live_page.js';

// Tests of the live page when a price, the connection or the signer fails.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'ETHUSD', max_age: '2s' },
];
const PRICES: Readonly<Record<string, number>> = { BTCUSD: 100, ETHUSD: 200 };
test('the live page when something is wrong', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  let published = ASSETS.map(({ symbol }) => symbol);
  const publish = () =>
    feed.accept(...published.map((symbol) => ({ symbol, price: units(PRICES[symbol]!) })));
  const publishing = setInterval(() => void publish(), 500);
  t.teardown(() => clearInterval(publishing));

  await t.test('a forged frame blanks every price, and a good one brings them back', async (t) => {
    let isForging = false;
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await page.routeWebSocket(/\/ws/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => socket.send(isForging ? forged(String(message)) : message));
      });
      await page.reload();
      await untilSealed(page, 'verified');
      isForging = true;
      const rows = await untilSealed(page, 'failed');
      t.same(new Set(Object.values(rows).map(({ price }) => price)), new Set(['—']));
      await untilText(page, '#verdict', 'failed its check');
      await untilText(page, '#notice', 'A frame failed its check');
      t.equal(await page.textContent('#price'), '—');
      isForging = false;
      t.equal((await untilSealed(page, 'verified'))['BTCUSD']?.price, '100.000');
      t.notOk(await page.isVisible('#notice'));
    });
  });

  await t.test('two values of one time are said, with the evidence', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      await page.routeWebSocket(/\/ws/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => {
          for (const text of [message, otherValue(String(message))])
            if (text !== undefined) socket.send(text);
        });
      });
      await page.reload();
      await untilText(page, '#notice', 'Do not trust these prices: 0x');
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('#notice button')]);
      const evidence = parseEvidence(readFileSync(await download.path(), 'utf8'));
      const proven = await verifyEvidence(evidence, { signers: [service.evmAddress] });
      t.match(proven, { verdict: 'verified', statement: /signed two values of asset \d of taxonomy 1/ });
    });
  });

  await t.test('a dead connection is said, its prices go stale, and the page comes back', async (t) => {
    const proxy = await TcpProxy.start(service.port);
    t.teardown(() => proxy.stop());
    await withTab(
      t,
      { browser, url: linkTo(`http://127.0.0.1:${proxy.port}`, service.evmAddress) },
      async (page) => {
        await untilSealed(page, 'verified');
        proxy.state = 'silent';
        await untilText(page, '#connection-chip', 'Silent');
        await untilSealed(page, 'stale');
        t.match(await untilText(page, '#verdict', 'stale'), /stale, as of \d\d:\d\d:\d\d UTC/);
        // The service's candles have the prices of the part without frames.
        const history = page.waitForRequest('**/udf/history*');
        proxy.state = 'closed';
        proxy.state = 'open';
        await untilText(page, '#connection-chip', /Live · [\d.]+ s gap/);
        await history;
        await untilSealed(page, 'verified');
      },
    );
  });

  await t.test('a price that ends goes stale', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      published = ['BTCUSD'];
      await eventually(async () => (await shownRows(page))['ETHUSD']?.seal === 'stale');
      t.match(await shownRows(page), { ETHUSD: { price: '200.000' }, BTCUSD: { seal: 'verified' } });
    });
  });

  await t.test('a list whose IDs nobody has signed gives no price', async (t) => {
    published = ASSETS.map(({ symbol }) => symbol);
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      let isSwapping = true;
      await page.route('**/v1/taxonomy', async (route) => {
        const answer = await (await route.fetch()).json();
        const [one, other] = answer.data.assets;
        if (isSwapping) [one.asset_id, other.asset_id] = [other.asset_id, one.asset_id];
        await route.fulfill({ json: answer });
      });
      await page.reload();
      const rows = await untilSealed(page, 'unsigned mapping');
      t.same(Object.keys(rows).sort(), ASSETS.map(({ symbol }) => symbol).sort());
      t.same(new Set(Object.values(rows).map(({ price }) => price)), new Set(['—']));
      await untilText(page, '#notice', 'has not signed which asset each price belongs to');
      await untilText(page, '#verdict', 'unsigned mapping');
      isSwapping = false;
      t.equal((await untilSealed(page, 'verified'))['BTCUSD']?.price, '100.000');
      t.notOk(await page.isVisible('#notice'));
    });
  });
});

test('the page loads again until no file of it is refused', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const service = await startTestService(t, { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '1h' }] });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
  const page = await browser.newPage();
  const asked = new Set<string>();
  await page.route(`**${PAGE_PATHS.files}*`, (route) => {
    const { pathname } = new URL(route.request().url());
    // The first script cannot watch its own request.
    if (asked.has(pathname) || pathname.includes('/boot-')) return route.continue();
    asked.add(pathname);
    return route.fulfill({ status: 429, json: { error: 'too many requests' } });
  });
  await page.goto(linkTo(service.url, service.evmAddress));
  await page.getByRole('alert').filter({ hasText: 'loads again in a few seconds' }).waitFor();
  await page.waitForSelector('#grid [role=row][data-seal=verified]');
  t.ok(asked.size > 5, `${asked.size} files`);
});

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
  const link = `${linkTo(service.url, service.evmAddress)}&asset=BTCUSD`;
  await withTab(t, { browser, url: link }, async (page) => {
    await untilText(page, '#verdict small', 'logged, no witness');
    await page.click('#verdict');
    await untilText(page, '#seal .log', 'Your browser verified');
    const timeNs = BigInt(Date.now() - 1_000) * 1_000_000n;
    const other = signedPrice(timeNs, units(94_000), 'BTCUSD', SERVICE_KEYS.evm);
    await page.route('**/v1/prices/at*', (route) =>
      route.fulfill({
        contentType: 'application/json',
        body: `{"data":{"BTCUSD":${other.replace(',"signed_prices":[]', '')}}}`,
      }),
    );
    await page.goto(`${link}&at=${new Date(Date.now() - 500).toISOString()}`);
    await untilText(page, '#verdict small', 'the log denies this price');
    await page.click('#verdict');
    await untilText(page, '#seal .log', 'does not have it. Save the evidence');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('#seal .log button:text-is("Save the evidence")'),
    ]);
    const evidence = join(dir, download.suggestedFilename());
    await download.saveAs(evidence);
    const trusted = ['--signer', service.evmAddress, '--policy', policy];
    const proven = await runCommand(registerLog, ['log', 'verify', evidence, ...trusted]);
    t.equal(proven.exitCode, 0, proven.stderr);
    t.match(proven.stdout, [
      /^PROVEN: 0x\w+ signed BTCUSD at \d+ ns, and batch \d+ of \S+ does not have it$/,
    ]);
  });
});

/** Returns the message with a changed digit in a payload. */
function forged(message: string): string {
  const at = message.indexOf('"p":"0x');
  if (at === -1) return message;
  const place = at + 180;
  return message.slice(0, place) + (message[place] === '0' ? '1' : '0') + message.slice(place + 1);
}

/** Returns a frame of the same time with another price of its first asset, validly signed; `undefined` for other messages. */
function otherValue(message: string): string | undefined {
  const { type, p } = JSON.parse(message);
  if (type !== 'signed_ecdsa') return undefined;
  const { body } = decodePayload(p) as Payload;
  const other = Buffer.from(body);
  other[VERSIONED_LAYOUT.head.bytes + SIMPLIFIED_LAYOUT.asset.at.price + PRICE_LAST_BYTE]! ^= 1;
  return JSON.stringify({ type, p: signed(other, new Uint8Array(SERVICE_KEYS.evm)) });
}

const PRICE_LAST_BYTE = 15;
