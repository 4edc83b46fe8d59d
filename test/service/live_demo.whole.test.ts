import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { LocalExchange } from '../../scripts/load/local_exchange.js';
import { eventually } from '../../scripts/load/wait.js';
import type { BuiltInKind } from '../../src/sources/sources_schema.js';
import { launchBrowser, needsBrowser } from '../browser/browser.js';
import { untilText, withTab } from '../browser/live_page.js';
import { childrenOf, isGone, ServeProcess } from './child.js';

// Tests of the demo with real prices: `tickseal serve --live`. The markets are local exchanges.

const COINS = ['BTC', 'ETH', 'SOL', 'XRP', 'DOGE'];
const DOLLAR: readonly BuiltInKind[] = ['kraken', 'coinbase', 'bitstamp'];
const TETHER: readonly BuiltInKind[] = ['binance', 'okx', 'bybit'];
const PRICE = 61_000;
const SHOW_MS = 200;

interface TaxonomyAnswer {
  readonly data: {
    readonly simulation?: boolean;
    readonly assets: readonly {
      readonly asset_id: number;
      readonly name: string;
      readonly signature_type: string;
      readonly simulation?: boolean;
    }[];
  };
}

test('six prices of local exchanges beside the simulated ones', async (t) => {
  const file = await openMarkets(t);
  const demo = startDemo(t, file);
  const printed = await banner(demo);
  t.match(demo.stdout, 'asking kraken, coinbase, bitstamp, binance, okx, bybit for prices');
  t.match(demo.stdout, /Real prices: USDTUSD, BTCUSD, .*, from kraken, .* Every other price is simulated/);

  const { data } = (await ask(printed, '/v1/taxonomy')) as TaxonomyAnswer;
  t.notOk('simulation' in data, 'not all prices are simulated');
  const real = data.assets.filter(({ simulation }) => simulation === false);
  t.same(
    real.map(({ name }) => name),
    [...COINS.map((coin) => `${coin}USD`), 'USDTUSD'],
  );
  t.ok(real.every(({ signature_type }) => signature_type === 'evm'));
  t.equal(data.assets.filter(({ simulation }) => simulation === true).length, data.assets.length - 6);

  const latest = await eventually(async () => {
    const { data } = (await ask(printed, '/v1/prices/latest?assets=BTCUSD,USDTUSD,EURUSD')) as {
      data?: Record<string, { price: string; signed_prices: { publisher_key: string }[] }>;
    };
    return data?.['BTCUSD'] !== undefined && data['EURUSD'] !== undefined && data;
  });
  t.equal(latest['BTCUSD']!.price, `${PRICE}${'0'.repeat(18)}`);
  t.equal(latest['BTCUSD']!.signed_prices.length, 1, 'one publisher');
  t.ok(latest['EURUSD']!.signed_prices.length >= 2);
  const simulatedKeys = latest['EURUSD']!.signed_prices.map(({ publisher_key }) => publisher_key);
  t.notOk(simulatedKeys.includes(latest['BTCUSD']!.signed_prices[0]!.publisher_key));

  const publishers = childrenOf(demo.child.pid!) ?? [];
  const markets = publishers.flatMap((pid) => childrenOf(pid) ?? []);
  if (process.platform === 'linux') {
    t.equal(publishers.length, 2, 'two processes of publishers');
    t.equal(markets.length, 1, 'one process speaks to exchanges');
    t.notMatch(readFileSync(`/proc/${markets[0]}/environ`, 'latin1'), /TICKSEAL_(KEY|TOKEN)/);
  }

  await t.test('the page marks each price as what it is', needsBrowser(), async (t) => {
    const browser = await launchBrowser(t);
    await withTab(t, { browser, url: printed.page }, async (page) => {
      await untilText(page, '#simulation', `6 real, ${data.assets.length - 6} simulated`);
      const rowOf = (symbol: string) =>
        page.evaluate<string | undefined>(
          `[...document.querySelectorAll('#grid [role=row]:not([hidden])')].find((row) => row.querySelector('.symbol').textContent === '${symbol}')?.innerText`,
        );
      t.match(await eventually(async () => matching(await rowOf('BTCUSD'), /61,000/)), /real/);
      t.match(await eventually(async () => matching(await rowOf('AAPL'), /verified/)), /simulated/);
      await page.locator('#grid [role=row]', { hasText: 'DOGEUSD' }).click();
      await untilText(page, 'h1 .type', /^real$/);
      await page.locator('#grid [role=row]', { hasText: 'EURUSD' }).click();
      await untilText(page, 'h1 .type', /^simulated$/);
      t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'));
    });
  });

  demo.child.kill('SIGTERM');
  t.same(await demo.exited, { code: 0, signal: null });
  for (const pid of [...publishers, ...markets])
    await eventually(() => isGone(pid), { what: `the end of process ${pid}` });
  t.equal(demo.stderr, '');
});

interface Printed {
  readonly url: string;
  readonly token: string;
  readonly page: string;
}

function startDemo(t: Test, file: string): ServeProcess {
  const data = join(dirname(file), 'data');
  const demo = new ServeProcess(['--live', file, '--data', data, '--port', '0', '--admin-port', '0']);
  t.teardown(() => demo.kill());
  return demo;
}

async function banner(demo: ServeProcess): Promise<Printed> {
  const printed = async (name: string) =>
    (await demo.line(new RegExp(`^ +${name} `))).trim().split(/\s+/).at(-1)!;
  return { url: await printed('REST'), token: await printed('token'), page: await printed('live page') };
}

async function ask({ url, token }: Printed, path: string): Promise<unknown> {
  const response = await fetch(url + path, { headers: { Authorization: `Basic ${token}` } });
  return response.json();
}

/** Opens six local exchanges with constant prices. @returns the sources file */
async function openMarkets(t: Test): Promise<string> {
  const pairsOf = (kind: BuiltInKind) =>
    DOLLAR.includes(kind)
      ? ['USDT/USD', ...COINS.map((coin) => `${coin}/USD`)]
      : COINS.map((coin) => `${coin}/USDT`);
  const exchanges = await Promise.all(
    [...DOLLAR, ...TETHER].map((kind) => LocalExchange.start(t, kind, pairsOf(kind))),
  );
  const show = () => {
    for (const exchange of exchanges)
      for (const pair of pairsOf(exchange.kind)) {
        const price = pair === 'USDT/USD' ? 1 : PRICE;
        exchange.show(pair, `${price * 0.9999}`, `${price * 1.0001}`, Date.now());
      }
  };
  show();
  const timer = setInterval(show, SHOW_MS);
  t.teardown(() => clearInterval(timer));
  const inputsOf = (coin: string) => [
    ...DOLLAR.map((kind) => `${kind} ${coin}/USD`),
    ...TETHER.map((kind) => `"${kind} ${coin}/USDT * USDTUSD"`),
  ];
  const file = join(t.testdir(), 'live.yaml');
  writeFileSync(
    file,
    `sources:
${exchanges.map(({ kind, definition }) => `  ${kind}: ${definition}\n`).join('')}assets:
  USDTUSD: { from: [${DOLLAR.map((kind) => `${kind} USDT/USD`).join(', ')}] }
${COINS.map((coin) => `  ${coin}USD: { from: [${inputsOf(coin).join(', ')}] }\n`).join('')}`,
  );
  return file;
}

function matching(text: string | undefined, pattern: RegExp): string | undefined {
  return text !== undefined && pattern.test(text) ? text : undefined;
}
