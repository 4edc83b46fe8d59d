import { type Test, test } from 'tap';
import { SourceRun } from '../../../src/sources/markets/source_run.js';
import { planOf } from '../plans.js';
import { installStandIn, type PendingCall, type StandIn } from './ccxt_stand_in.js';
import { ManualTime, until } from './manual_time.js';

const WATCH = { watchOrderBook: true, unWatchOrderBook: true };

interface Bench {
  readonly time: ManualTime;
  readonly ccxt: StandIn;
  readonly run: SourceRun;
  readonly warnings: string[];
  /** Waits for an unanswered call. */
  next(method: string, symbol: string): Promise<PendingCall>;
  price(asset: string): bigint | undefined;
}

/** Creates a run of sources on the clock of a test. @param folder the folder of packages */
function runOf(
  sources: string,
  folder: string,
  time: ManualTime,
  warn: (text: string) => void = () => {},
): SourceRun {
  return new SourceRun({
    plan: planOf(sources),
    clock: time,
    schedule: time.schedule,
    random: () => 0.5,
    env: {},
    folder,
    write: () => {},
    warn,
  });
}

async function start(t: Test, has: Record<string, boolean>, inputs = 'gate BTC/USDT'): Promise<Bench> {
  const folder = t.testdir();
  const ccxt = await installStandIn(folder);
  ccxt.has = has;
  const time = new ManualTime();
  const warnings: string[] = [];
  const run = runOf(
    `
sources: { gate: { kind: ccxt, exchange: gate } }
assets:
${inputs
  .split(', ')
  .map(
    (input) =>
      `  ${input.slice(5).replace('/', '')}: { from: [${input}], min_sources: 1, max_age: 10s, max_spread_percent: 50 }`,
  )
  .join('\n')}
`,
    folder,
    time,
    (text) => warnings.push(text),
  );
  t.teardown(() => run.close());
  t.same(await run.open(), []);
  time.advance(0);
  const taken = new Set<PendingCall>();
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

test('prices of a double are its shortest digits, to 18 decimals', async (t) => {
  const { run, next, price } = await start(t, WATCH);
  // The exact value of this double is 0.3000000000000000444…
  (await next('watchOrderBook', 'BTC/USDT')).resolve(book(2.5e-1, 0.1 + 0.2));
  await until(() => price('BTCUSDT') !== undefined, 'the price');
  const [reading] = run.decisions()[0]!.readings;
  t.same([reading!.quote!.bid, reading!.quote!.ask], [250_000_000_000_000_000n, 300_000_000_000_000_040n]);
  (await next('watchOrderBook', 'BTC/USDT')).resolve(book(5.1e-7, 5.2e-7));
  await until(() => price('BTCUSDT') === 515_000_000_000n, 'a number with an exponent');
  (await next('watchOrderBook', 'BTC/USDT')).resolve({ bids: [], asks: [[2, 1]] });
  await until(() => price('BTCUSDT') === undefined, 'an empty side takes the price away');
  t.equal(run.decisions()[0]!.readings[0]!.verdict, 'empty');
});

test('a pair, an exchange or a package that there is not', async (t) => {
  const folder = t.testdir({ empty: {} });
  await installStandIn(folder);
  const faultsOf = async (exchange: string, pair: string, home = folder) => {
    const run = runOf(
      `
sources: { gate: { kind: ccxt, exchange: ${exchange} } }
assets: { A: { from: [gate ${pair}], min_sources: 1 } }
`,
      home,
      new ManualTime(),
    );
    const faults = await run.open();
    run.close();
    return faults;
  };
  t.same(await faultsOf('gate', 'BTC/USTD'), [
    { source: 'gate', at: { pair: 'BTC/USTD' }, reason: 'no such pair trades here; near it are BTC/USDT' },
  ]);
  t.match(await faultsOf('gate', 'OLD/USDT'), [{ at: { pair: 'OLD/USDT' } }], 'a pair that trades no longer');
  t.same(await faultsOf('gat', 'BTC/USDT'), [
    { source: 'gate', at: { key: 'exchange' }, reason: 'ccxt has no exchange gat; near it are gate, gateio' },
  ]);
  t.match(await faultsOf('constructor', 'BTC/USDT'), [{ at: { key: 'exchange' } }]);
  const [missing] = await faultsOf('gate', 'BTC/USDT', '/');
  t.match(missing, {
    at: { key: 'kind' },
    reason: /^ccxt is not installed; run "npm install ccxt" in \/, or/,
  });
});

test('the watchdogs: again after max_age, then another instance', async (t) => {
  const { time, ccxt, next, price, warnings } = await start(t, WATCH, 'gate BTC/USDT, gate ETH/USDT');
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
  const polled = await start(t, { fetchOrderBook: true, fetchTicker: true }, 'gate BTC/USDT, gate ETH/USDT');
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
