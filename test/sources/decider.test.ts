import { test } from 'tap';
import type { TimeNs } from '../../src/model/time.js';
import { Decider } from '../../src/sources/decider.js';
import { after, planOf } from './plans.js';

const PLAN = planOf(`
sources:
  kraken: { kind: kraken }
  coinbase: { kind: coinbase }
  binance: { kind: binance }
assets:
  USDTUSD: { from: [kraken USDT/USD, coinbase USDT/USD], bounds: [0.5, 1.5], publish: false }
  BTCUSD: { from: [kraken BTC/USD, "binance BTC/USDT * USDTUSD"] }
publish: { every: 500ms, delta_percent: 0.1 }
`);

interface Line {
  readonly asset: string;
  readonly price: string | null;
  readonly timestamp: string;
  readonly trigger: string;
  readonly withheld?: string;
  readonly unsaid?: number;
  readonly publish?: boolean;
  readonly sources: readonly Record<string, unknown>[];
}

function decider() {
  const texts: string[] = [];
  const room = new Decider(PLAN, (line) => texts.push(line));
  const take = (source: string, symbol: string, bid: string, ask: string, atNs: TimeNs) =>
    room.take(source, { symbol, bid, ask }, atNs);
  return { room, take, lines: (): Line[] => texts.splice(0).map((text) => JSON.parse(text) as Line) };
}

/** Gives every market a quote. */
function filled() {
  const made = decider();
  made.take('kraken', 'USDT/USD', '0.9999', '1.0001', after(0));
  made.take('coinbase', 'USDT/USD', '0.9999', '1.0001', after(0));
  made.take('kraken', 'BTC/USD', '99990', '100010', after(0));
  made.take('binance', 'BTC/USDT', '99990', '100010', after(0));
  return made;
}

test('a first price is written at once, and no price only once', async (t) => {
  const { lines } = filled();
  const found = lines();
  t.same(
    found.map(({ asset, price, trigger, withheld }) => [asset, price, trigger, withheld]),
    [
      ['USDTUSD', null, 'withheld', 'too few sources'],
      ['USDTUSD', '1', 'delta', undefined],
      ['BTCUSD', null, 'withheld', 'too few sources'],
      ['BTCUSD', '100000', 'delta', undefined],
    ],
  );
  t.equal(found[1]!.publish, false);
  t.same(found[3]!.sources, [
    {
      source: 'kraken',
      symbol: 'BTC/USD',
      bid: '99990',
      ask: '100010',
      time: String(after(0)),
      price: '100000',
      verdict: 'used',
    },
    {
      source: 'binance',
      symbol: 'BTC/USDT',
      bid: '99990',
      ask: '100010',
      time: String(after(0)),
      conversion: { asset: 'USDTUSD', price: '1' },
      price: '100000',
      verdict: 'used',
    },
  ]);
});

test('between ticks only a move of delta is written', async (t) => {
  const { take, lines, room } = filled();
  lines();
  take('kraken', 'BTC/USD', '100180', '100200', after(10));
  t.same(lines(), [], 'the median moved by 0.095 %');
  take('kraken', 'BTC/USD', '100190', '100210', after(20));
  t.match(lines(), [{ asset: 'BTCUSD', price: '100100', trigger: 'delta' }]);
  room.tick(after(500));
  t.match(lines(), [
    { asset: 'USDTUSD', trigger: 'clock' },
    { asset: 'BTCUSD', price: '100100', trigger: 'clock', timestamp: String(after(500)) },
  ]);
});

test('age takes a price away, and says so once', async (t) => {
  const { room, lines, take } = filled();
  lines();
  room.tick(after(10_000));
  t.equal(lines().length, 2, 'quotes of exactly max_age count');
  room.tick(after(10_001));
  const found = lines();
  t.same(
    found.map(({ asset, price, withheld }) => [asset, price, withheld]),
    [
      ['USDTUSD', null, 'too few sources'],
      ['BTCUSD', null, 'too few sources'],
    ],
  );
  t.same(
    found[1]!.sources.map(({ verdict }) => verdict),
    ['stale', 'stale'],
  );
  room.tick(after(10_500));
  room.tick(after(11_000));
  t.same(lines(), []);
  take('binance', 'BTC/USDT', '99990', '100010', after(11_100));
  t.same(lines(), [], 'the reason is the same');
  take('kraken', 'BTC/USD', '99990', '100010', after(11_200));
  t.same(lines(), [], 'the conversion is still missing');
  take('kraken', 'USDT/USD', '0.9999', '1.0001', after(11_300));
  take('coinbase', 'USDT/USD', '0.9999', '1.0001', after(11_300));
  t.match(lines(), [
    { asset: 'USDTUSD', price: '1', unsaid: 3 },
    { asset: 'BTCUSD', price: '100000', unsaid: 4 },
  ]);
});
