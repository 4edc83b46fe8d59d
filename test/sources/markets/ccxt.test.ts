import { type Test, test } from 'tap';
import { installStandIn, type PendingCall } from './ccxt_stand_in.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

const WATCH = { watchOrderBook: true, unWatchOrderBook: true };

async function start(t: Test, has: Record<string, boolean>, pairs = ['BTC/USDT']) {
  const folder = t.testdir();
  const ccxt = await installStandIn(folder);
  ccxt.has = has;
  const time = new ManualTime();
  const rules = 'min_sources: 1, max_age: 10s, max_spread_percent: 50';
  const assets = pairs.map((pair) => `${pair.replace('/', '')}: { from: [gate ${pair}], ${rules} }`);
  const text = `sources: { gate: { kind: ccxt, exchange: gate } }\nassets: { ${assets.join(', ')} }`;
  const { run, warnings } = manualRun(t, text, time, { folder });
  t.same(await run.open(), []);
  time.advance(0);
  const taken = new Set<PendingCall>();
  /** Waits for an unanswered call. */
  const next = async (method: string, symbol: string) => {
    const find = () =>
      ccxt.calls.find((call) => call.method === method && call.symbol === symbol && !taken.has(call));
    await until(() => find() !== undefined, `${method} ${symbol}`);
    const call = find()!;
    taken.add(call);
    return call;
  };
  const price = (asset: string) => run.decisions().find((one) => one.asset.symbol === asset)!.price;
  return { time, ccxt, run, warnings, next, price };
}

const book = (bid: number, ask: number) => ({ bids: [[bid, 1]], asks: [[ask, 1]], timestamp: undefined });

test('a pair, an exchange or a package that there is not', async (t) => {
  const installed = t.testdir();
  await installStandIn(installed);
  const faultsOf = (exchange: string, pair: string, folder = installed) => {
    const text = `sources: { gate: { kind: ccxt, exchange: ${exchange} } }\nassets: { A: { from: [gate ${pair}], min_sources: 1 } }`;
    return manualRun(t, text, new ManualTime(), { folder }).run.open();
  };
  t.same(await faultsOf('gate', 'BTC/USTD'), [
    { source: 'gate', at: { pair: 'BTC/USTD' }, reason: 'no such pair trades here; near it are BTC/USDT' },
  ]);
  t.same(await faultsOf('gat', 'BTC/USDT'), [
    { source: 'gate', at: { key: 'exchange' }, reason: 'ccxt has no exchange gat; near it are gate, gateio' },
  ]);
  const [missing] = await faultsOf('gate', 'BTC/USDT', '/');
  t.match(missing, {
    at: { key: 'kind' },
    reason: /^ccxt is not installed; run "npm install ccxt" in \/, or/,
  });
});

test('the watchdogs: again after max_age, then another instance', async (t) => {
  const { time, ccxt, next, price, warnings } = await start(t, WATCH, ['BTC/USDT', 'ETH/USDT']);
  for (const symbol of ['BTC/USDT', 'ETH/USDT']) (await next('watchOrderBook', symbol)).resolve(book(10, 11));
  await until(() => price('BTCUSDT') !== undefined && price('ETHUSDT') !== undefined, 'the prices');
  const instances = ccxt.instances;
  for (let i = 0; i < 11; i++) {
    time.advance(1_000);
    (await next('watchOrderBook', 'ETH/USDT')).resolve(book(10, 11));
  }
  (await next('unWatchOrderBook', 'BTC/USDT')).resolve({});
  t.equal((await next('watchOrderBook', 'BTC/USDT')).instance, instances, 'the orphan of before');
  t.equal((await next('watchOrderBook', 'BTC/USDT')).instance, instances, 'the same instance, again');
  for (let i = 0; i < 11; i++) {
    time.advance(1_000);
    (await next('watchOrderBook', 'ETH/USDT')).resolve(book(10, 11));
  }
  time.advance(500);
  (await next('watchOrderBook', 'BTC/USDT')).resolve(book(3, 4));
  await until(() => price('BTCUSDT') === 35n * 10n ** 17n, 'the price of another instance');
  t.equal(ccxt.instances, instances + 1);
  t.same(ccxt.closed, [], 'the pair that is heard keeps its instance');
  t.equal(ccxt.loads, 1, 'the list of markets is read once');
  t.same(warnings, ['gate: BTC/USDT: no frame for 10 s; subscribing again']);
});

test('an exchange without sockets is asked: its book, or its ticker', async (t) => {
  const polled = await start(t, { fetchOrderBook: true, fetchTicker: true }, ['BTC/USDT', 'ETH/USDT']);
  (await polled.next('fetchOrderBook', 'BTC/USDT')).resolve(book(10, 11));
  await until(() => polled.price('BTCUSDT') !== undefined, 'the price');
  polled.time.advance(1_999);
  t.equal(
    polled.ccxt.calls.filter(({ symbol }) => symbol === 'BTC/USDT').length,
    1,
    'one request a second in all',
  );
  polled.time.advance(1);
  await polled.next('fetchOrderBook', 'BTC/USDT');
  const ticker = await start(t, { fetchTicker: true });
  (await ticker.next('fetchTicker', 'BTC/USDT')).resolve({ bid: undefined, ask: undefined, last: 7 });
  await until(() => ticker.price('BTCUSDT') === 7n * 10n ** 18n, 'the last trade');
});
