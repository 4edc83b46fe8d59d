import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { TcpProxy } from '../../scripts/load/tcp_proxy.js';
import { eventually } from '../../scripts/load/wait.js';
import { decodePayload, type Payload } from '../../src/client/index.js';
import { parseEvidence } from '../../src/client/verify/evidence_file.js';
import { verifyEvidence } from '../../src/client/verify/log_evidence.js';
import { SIMPLIFIED_LAYOUT, VERSIONED_LAYOUT } from '../../src/wire/payload_fields.js';
import { signed } from '../client/signed_payload.js';
import { Feed, units } from '../service/feed.js';
import { SERVICE_KEYS, startTestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser } from './browser.js';
import { linkTo, shownRows, untilSealed, untilText, withTab } from './live_page.js';

// Tests of the live page when a price, the connection or the signer fails.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'ETHUSD', max_age: '2s' },
  { id: 3, symbol: 'FUND', calendar: 'rare' },
];
const PRICES: Readonly<Record<string, number>> = { BTCUSD: 100, ETHUSD: 200, FUND: 300 };
/** The only trading day, three days from now, so that the market is closed today. */
const DAY = ['wed', 'thu', 'fri', 'sat', 'sun', 'mon', 'tue'][new Date().getUTCDay()]!;
const SECTIONS = {
  assets: ASSETS,
  calendars: {
    rare: {
      time_zone: 'UTC',
      sessions: [{ days: [DAY], from: '09:00', to: '17:00', status: 'regular' }],
    },
  },
};

test('the live page when something is wrong', needsBrowser(), async (t) => {
  const browser = await launchBrowser(t);
  const service = await startTestService(t, SECTIONS);
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
        await untilText(page, '.proof', 'Verified here');
        await page.waitForLoadState('networkidle');
        const startMs = performance.now();
        proxy.state = 'silent';
        await untilText(page, '#connection-chip', 'Silent');
        const saidMs = performance.now() - startMs;
        await untilSealed(page, 'stale');
        t.match(await untilText(page, '#verdict', 'stale'), /stale, as of \d\d:\d\d:\d\d UTC/);
        await page.context().setOffline(true);
        await untilText(
          page,
          '#notice',
          'This computer is offline. The page keeps what it verified last, as of',
        );
        await page.context().setOffline(false);
        await eventually(async () => !(await page.isVisible('#notice')));
        await page.click('#verdict');
        t.match(await untilText(page, '#seal', 'Merkle root'), 'stale, as of');
        await page.keyboard.press('Escape');
        t.comment(
          `said after ${Math.round(saidMs)} ms, stale after ${Math.round(performance.now() - startMs)} ms`,
        );
        // The service's candles have the prices of the part without frames.
        const history = page.waitForRequest('**/udf/history*');
        proxy.state = 'closed';
        proxy.state = 'open';
        await untilText(page, '#connection-chip', /Live · [\d.]+ s gap/);
        await history;
        await untilSealed(page, 'verified');
        await page.click('#connection-chip');
        await untilText(page, '#connection', '1, the last one');
      },
    );
  });

  await t.test('a service that does not answer the login is said, and nothing looks verified', async (t) => {
    await withTab(t, { browser, url: service.url }, async (page) => {
      await page.route('**/v1/**', (route) => route.abort());
      await page.fill('#token', TOKEN);
      await page.click('#login button');
      await untilText(page, '#notice', 'The service does not answer: nothing answers at its address.');
      t.notOk(await page.isVisible('#verdict'));
      t.notOk(await page.isVisible('#chart'));
      await page.unroute('**/v1/**');
      await untilSealed(page, 'verified');
      await eventually(async () => !(await page.isVisible('#notice')));
      t.ok(await page.isVisible('#verdict'));
    });
  });

  await t.test('a price that ends goes stale, and a closed market looks closed', async (t) => {
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      t.match(await shownRows(page), {
        FUND: { market: 'closed', price: '300.000' },
        BTCUSD: { market: '24/7' },
      });
      const row = page.locator('#grid [role=row]', { hasText: 'ETHUSD' });
      await row.click();
      published = ['BTCUSD', 'FUND'];
      await eventually(async () => (await shownRows(page))['ETHUSD']?.seal === 'stale');
      t.same(await page.evaluate(COLOURS_OF_STALE_ROW), [], 'all of a stale row is grey');
      t.match(await shownRows(page), { ETHUSD: { price: '200.000' }, BTCUSD: { seal: 'verified' } });
    });
  });

  await t.test('one failed request costs neither the proof nor the chart', async (t) => {
    published = ASSETS.map(({ symbol }) => symbol);
    await withTab(t, { browser, url: linkTo(service.url, service.evmAddress) }, async (page) => {
      await untilSealed(page, 'verified');
      // The text about a failure stays only until the next attempt, so it may disappear before a test reads it.
      const failed = new Set<string>();
      for (const path of ['/v1/algorithms', '/udf/history'])
        await page.route(
          `**${path}*`,
          (route) => {
            failed.add(path);
            return route.fulfill({ status: 503, json: { error: 'overloaded' } });
          },
          { times: 1 },
        );
      await page.reload();
      await eventually(() => failed.size === 2);
      await untilText(page, '#history', 'not signed');
      await untilText(page, '.proof', 'Verified here');
      t.match(await page.getAttribute('#chart', 'aria-label'), /BTCUSD: \d+ candles/);
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

/** The parts of the stale row that have a colour, whose red, green and blue differ more than those of the greys. */
const COLOURS_OF_STALE_ROW = `(() => {
  const isGrey = (text) => {
    const [r, g, b, opacity = 1] = (text.match(/[0-9.]+/g) ?? [0, 0, 0]).map(Number);
    return opacity === 0 || Math.max(r, g, b) - Math.min(r, g, b) <= 40;
  };
  const row = document.querySelector('#grid [role=row][data-seal=stale]:not([hidden])');
  return [row, ...row.querySelectorAll('*')].flatMap((part) => {
    const style = getComputedStyle(part);
    const shadow = style.boxShadow.split(')')[0];
    return [style.color, style.fill, style.stroke, style.backgroundColor, shadow]
      .filter((text) => /^rgb/.test(text) && !isGrey(text))
      .map((text) => part.outerHTML.slice(0, 60) + ' ' + text);
  });
})()`;

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
