import { test } from 'tap';
import { formatDecimalPrice } from '../../src/client/verify/decimal_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { Decider } from '../../src/sources/decider.js';
import { Random } from '../random.js';
import { cases } from '../tier.js';
import { planOf, START } from './plans.js';
import { type Frame, type ReferenceMarket, referenceDecision } from './reference.js';

const SECOND = 1_000_000_000n;
const ONE = 10n ** 18n;
const DECISIONS = cases(50_000);
const abs = (value: bigint) => (value < 0n ? -value : value);

// Two exchanges, one of them under two names, and sources whose times the operator named.
const INPUTS = [
  { text: 'kraken A/USD', book: 'kraken', isExchange: true },
  { text: 'coinbase A/USD', book: 'coinbase', isExchange: true },
  { text: 'twin A/USD', book: 'coinbase', isExchange: false },
  { text: 'desk ONE', book: 'desk', isExchange: false },
  { text: 'desk TWO', book: 'desk', isExchange: false },
  { text: 'desk THREE', book: 'desk', isExchange: false },
  { text: 'bybit A/USDT * RATE', book: 'bybit', isExchange: true },
  { text: 'web EUR / RATE', book: 'web', isExchange: false },
  { text: 'rates USD', book: 'rates', isExchange: false },
] as const;
const [RATE_INPUT, MARKETS] = [INPUTS[8], INPUTS.slice(0, 8)];

const planFor = (order: readonly number[], minSources: number) =>
  planOf(`
sources:
  kraken: { kind: kraken }
  coinbase: { kind: coinbase }
  twin: { kind: ccxt, exchange: coinbaseexchange }
  bybit: { kind: bybit }
  desk: { kind: command, run: [x] }
  web: { kind: http, url: "https://x", every: 1s, price: $.a, at: $.t }
  rates: { kind: command, run: [y] }
assets:
  RATE: { from: [rates USD], min_sources: 1, max_age: 60s, max_spread_percent: 50, publish: false }
  A: { from: [${order.map((i) => JSON.stringify(MARKETS[i]!.text)).join(', ')}], min_sources: ${minSources}, max_age: 10s, max_spread_percent: 0.5, bounds: [-40, 101] }
`);

test('every decision is the one of a slow reference, made from the rules alone', async (t) => {
  const random = new Random(57);
  const chance = (share: number) => random.chance(share);
  const pick = <T>(list: readonly T[]): T => random.pick(list);
  const whole = (max: number) => BigInt(random.below(max));
  const seen = new Map<string, number>();
  const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
  let compared = 0;
  let different = 0;
  while (compared < DECISIONS) {
    const order = MARKETS.map((_, i) => i).sort(() => random.next() - 0.5);
    const minSources = pick([1, 2, 2, 3]);
    const decider = new Decider(planFor(order, minSources), () => {});
    const level = pick([100n, 100n, 100n, -37n]) * ONE;
    const markets = INPUTS.map(({ book, isExchange }) => ({
      book,
      isExchange,
      frames: [] as Frame[],
      // Some clocks are wrong, and some markets deliver late.
      clockNs: pick([0n, 0n, 0n, -30n, 3n, -3_600n]) * SECOND,
      lateNs: pick([0n, 0n, 0n, 4n, 20n]) * SECOND,
      factor: pick([1000n, 1000n, 1000n, 1009n, 1100n]),
      givesTime: chance(0.8),
    }));
    let nowNs = START as bigint;
    let shiftNs = 0n;
    let price = level;
    for (let step = 0; step < 90; step++) {
      nowNs += pick([0n, 1n, 100n, 900n, 2_000n, 7_000n, 15_000n, 61_000n]) * 1_000_000n;
      if (chance(0.02)) {
        shiftNs = pick([0n, -3_600n, 86_400n]) * SECOND;
        decider.shiftNs = shiftNs;
      }
      if (chance(0.4)) price += (level * (whole(9) - 4n)) / 1_000n;
      for (const [i, market] of markets.entries()) {
        if (chance(0.35)) continue;
        const before = market.frames.at(-1);
        const middle = (i === 8 ? (ONE * 9_995n) / 10_000n : price) * market.factor;
        const half = (abs(middle) * (chance(0.04) ? 10n : whole(3))) / 2_000n;
        const isBad = chance(0.04);
        const isAgain = before !== undefined && chance(0.3);
        const bid = isAgain ? before.bid : isBad && chance(0.5) ? 0n : (middle - half) / 1000n;
        const ask = isAgain ? before.ask : isBad && bid !== 0n ? bid - 1n : (middle + half) / 1000n;
        const ownNs = nowNs + market.clockNs - market.lateNs - whole(300) * 1_000_000n;
        const own = !market.givesTime
          ? undefined
          : chance(0.01)
            ? ('unreadable' as const)
            : isAgain && chance(0.5) && before.own !== 'unreadable'
              ? before.own
              : ownNs;
        const trade = chance(0.03) ? price : undefined;
        const isRepeated = market.isExchange && chance(0.2);
        const top = trade === undefined ? { bid, ask } : { bid: 0n, ask: 0n };
        market.frames.push({ receivedNs: nowNs, ...top, trade, own, isRepeated, shiftNs });
        const [source, symbol] = INPUTS[i]!.text.split(' ') as [string, string];
        const sides =
          trade === undefined
            ? { bid: formatDecimalPrice(bid), ask: formatDecimalPrice(ask) }
            : { trade: formatDecimalPrice(trade) };
        decider.take(source, { symbol, ...sides, atNs: own, isRepeated }, nowNs as TimeNs);
      }
      const asMarket = (i: number, rate?: ReferenceMarket['rate']): ReferenceMarket => ({
        source: INPUTS[i]!.text.split(' ')[0]!,
        book: markets[i]!.book,
        isExchange: markets[i]!.isExchange,
        frames: markets[i]!.frames,
        rate,
      });
      const rate = referenceDecision(
        [asMarket(INPUTS.indexOf(RATE_INPUT))],
        { maxAgeNs: 60n * SECOND, minSources: 1, maxSpread: 50_000n, maxDeviation: 1_000n },
        nowNs,
      ).price;
      const expected = referenceDecision(
        order.map((i) => asMarket(i, i === 6 || i === 7 ? { price: rate, divides: i === 7 } : undefined)),
        {
          maxAgeNs: 10n * SECOND,
          minSources,
          maxSpread: 500n,
          maxDeviation: 1_000n,
          bounds: [-40n * ONE, 101n * ONE],
        },
        nowNs,
      );
      const found = decider.decisions(nowNs as TimeNs).find(({ asset }) => asset.symbol === 'A')!;
      const verdicts = found.readings.map(({ verdict }) => verdict.replace(/^(converted without).*/, '$1'));
      compared++;
      count(expected.withheld ?? 'price');
      for (const verdict of expected.verdicts) count(verdict);
      if (
        found.price === expected.price &&
        found.withheld === expected.withheld &&
        verdicts.join() === expected.verdicts.join()
      )
        continue;
      if (++different <= 3)
        t.comment(`${order}: ${found.price} ${verdicts}, not ${expected.price} ${expected.verdicts}`);
    }
  }
  t.equal(different, 0, `${compared} decisions`);
  t.comment(`${compared} decisions: ${JSON.stringify(Object.fromEntries(seen))}`);
  const outcomes =
    'price|too few sources|sources disagree|outside bounds|used|no quote|no time|late|stale|empty|crossed|wide|unproven|outlier|converted without';
  for (const name of outcomes.split('|')) t.ok(seen.get(name)! > 0, name);
});
