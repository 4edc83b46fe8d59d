import fc from 'fast-check';
import { test } from 'tap';
import type { TimeNs } from '../../src/model/time.js';
import { Decider } from '../../src/sources/decider.js';
import type { MarketQuote } from '../../src/sources/market_quote.js';
import { cases } from '../tier.js';
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
  const take = (
    source: string,
    symbol: string,
    bid: string,
    ask: string,
    atNs: TimeNs,
    marketNs?: bigint,
  ) => {
    const quote: MarketQuote = { symbol, bid, ask, ...(marketNs === undefined ? {} : { atNs: marketNs }) };
    room.take(source, quote, atNs);
  };
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

test('a market’s clock that is off by a constant counts after ten minutes, and its offset is named', async (t) => {
  const { room, take, lines } = filled();
  const verdictAt = (second: number) => {
    take('kraken', 'BTC/USD', '99990', '100010', after(second * 1_000), after((second - 30) * 1_000));
    room.tick(after(second * 1_000));
    return lines().findLast(({ asset }) => asset === 'BTCUSD')?.sources[0];
  };
  t.match(verdictAt(1), { verdict: 'late', time: String(after(-29_000)) });
  for (let second = 20; second < 600; second += 20) verdictAt(second);
  t.match(room.decisions(after(580_000))[1]!.readings[0], { verdict: 'late' });
  verdictAt(605);
  take('kraken', 'USDT/USD', '0.9999', '1.0001', after(605_000));
  take('coinbase', 'USDT/USD', '0.9999', '1.0001', after(605_000));
  take('binance', 'BTC/USDT', '99990', '100010', after(605_000));
  t.match(verdictAt(606), { verdict: 'used', time: String(after(606_000)), clock_offset_ms: -30_000 });
});

test('a halted market loses its quotes at once, and a symbol of no asset has no effect', async (t) => {
  const { room, lines, take } = filled();
  lines();
  take('kraken', 'ETH/USD', '1', '2', after(1));
  take('nobody', 'BTC/USD', '1', '2', after(1));
  t.same(lines(), []);
  room.forget('kraken', after(2));
  t.match(lines(), [
    { asset: 'USDTUSD', withheld: 'too few sources', sources: [{ verdict: 'no quote' }, {}] },
    { asset: 'BTCUSD', withheld: 'too few sources', sources: [{ verdict: 'no quote' }, {}] },
  ]);
});

test('every decision is the one of a decider that has decided nothing yet', async (t) => {
  const plan = planOf(`
sources: { kraken: { kind: kraken }, coinbase: { kind: coinbase }, binance: { kind: binance } }
assets:
  TWICE: { from: [kraken USDT/USD, "coinbase USDT/USD * USDTUSD"], max_age: 5s }
  USDTUSD: { from: [kraken USDT/USD, coinbase USDT/USD], publish: false }
  BTCUSD: { from: [kraken BTC/USD, "binance BTC/USDT * USDTUSD"] }
`);
  const markets = [
    ['kraken', 'USDT/USD', 1],
    ['coinbase', 'USDT/USD', 1],
    ['kraken', 'BTC/USD', 100_000],
    ['binance', 'BTC/USDT', 100_000],
  ] as const;
  // Few prices and times, so that many quotes change nothing and many quotes become stale.
  const step = fc.record({
    kind: fc.constantFrom('quote', 'quote', 'quote', 'quote', 'tick', 'forget', 'look'),
    market: fc.nat({ max: markets.length - 1 }),
    move: fc.constantFrom(0, 0, 0, 0.0006, 0.02, -1),
    lateMs: fc.constantFrom(0, 0, 4_000),
    passedMs: fc.constantFrom(0, 1, 700, 6_500, -3_000),
  });
  let written = 0;
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const lines: string[] = [];
    const room = new Decider(plan, (line) => lines.push(line));
    let nowMs = 0;
    for (const { kind, market, move, lateMs, passedMs } of steps) {
      nowMs += passedMs;
      const [source, symbol, price] = markets[market]!;
      const bid = String(price * (1 + move));
      const quote = { symbol, bid, ask: String(Number(bid) * 1.0001), atNs: after(nowMs - lateMs) };
      const run = (one: Decider) => {
        if (kind === 'quote') one.take(source, quote, after(nowMs));
        else if (kind === 'tick') one.tick(after(nowMs));
        else if (kind === 'look') one.decisions(after(nowMs));
        else one.forget(source, after(nowMs));
      };
      const expected: string[] = [];
      const fresh = new Decider(plan, (line) => expected.push(line));
      fresh.restore(room.state());
      run(fresh);
      run(room);
      t.strictSame(lines, expected);
      t.strictSame(room.state(), fresh.state());
      written += lines.splice(0).length;
    }
  });
  fc.assert(property, { numRuns: cases(300) });
  t.ok(written > 100, `${written} decisions`);
});
