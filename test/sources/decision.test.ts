import fc from 'fast-check';
import { test } from 'tap';
import type { TimeNs } from '../../src/model/time.js';
import { type Decision, decide } from '../../src/sources/decision.js';
import type { HeldQuote } from '../../src/sources/market_quote.js';
import type { AssetInput, AssetPlan } from '../../src/sources/plan.js';
import { cases } from '../tier.js';
import { START } from './plans.js';

const SCALE = 10n ** 18n;
const SECOND = 1_000_000_000n;

/** A market of a test case: its quote, and its conversion rate; a `null` rate is a conversion without a price. */
interface Market {
  readonly name: string;
  readonly quote: HeldQuote | undefined;
  readonly rate: bigint | null | undefined;
}

function planFor(markets: readonly Market[], changes: Partial<AssetPlan> = {}): AssetPlan {
  return {
    symbol: 'BTCUSD',
    inputs: markets.map(inputOf),
    minSources: 2,
    maxAgeNs: 10n * SECOND,
    maxSpread: 500_000n,
    maxDeviation: 1_000_000n,
    bounds: undefined,
    isPublished: true,
    ...changes,
  };
}

const inputOf = ({ name, rate }: Market): AssetInput => ({
  source: name,
  symbol: 'BTC/X',
  engine: name,
  conversion: rate === undefined ? undefined : `RATE-${name}`,
  divides: false,
});

function decided(markets: readonly Market[], changes: Partial<AssetPlan> = {}): Decision {
  return decide(
    planFor(markets, changes),
    {
      quoteOf: ({ source }) => markets.find(({ name }) => name === source)!.quote,
      priceOf: (symbol) => markets.find(({ name }) => `RATE-${name}` === symbol)!.rate ?? undefined,
    },
    START,
  );
}

const quoteAt = (bid: bigint, ask: bigint, ageNs = 0n): HeldQuote => ({
  bid,
  ask,
  trade: undefined,
  timeNs: (START - ageNs) as TimeNs,
  receivedNs: (START - ageNs) as TimeNs,
  ownNs: undefined,
  isTimeless: false,
  offsetNs: undefined,
  provenNs: undefined,
  movedNs: (START - ageNs) as TimeNs,
});
const near = (price: number): HeldQuote =>
  quoteAt((BigInt(price) * SCALE * 9_999n) / 10_000n, (BigInt(price) * SCALE * 10_001n) / 10_000n);
const market = (name: string, quote?: HeldQuote, rate?: bigint | null): Market => ({ name, quote, rate });
test('half against half has no price, and a converted majority no wrong one', async (t) => {
  const half = [100, 100, 110, 110].map((price, i) => market(`m${i}`, near(price)));
  t.equal(decided(half).withheld, 'sources disagree');
  const jumped = (SCALE * 9n) / 10n;
  const direct = [market('a', near(100)), market('b', near(100))];
  const converted = [111, 111, 111].map((price, i) => market(`m${i}`, near(price), jumped));
  t.ok(decided([...direct, ...converted]).price, 'the markets have followed');
  const late = [100, 100, 100].map((price, i) => market(`m${i}`, near(price), jumped));
  t.equal(decided([...direct, ...late]).withheld, 'sources disagree', 'the markets are late');
  const early = [111, 111, 111].map((price, i) => market(`m${i}`, near(price), SCALE));
  t.equal(decided([...direct, ...early]).withheld, 'sources disagree', 'the conversion is late');
  t.equal(
    decided([direct[0]!, market('b', near(1000)), ...late]).price,
    90n * SCALE,
    'one that lies decides nothing',
  );
});

const side = fc.oneof(
  fc.constant(0n),
  fc.bigInt({ min: 99n * SCALE, max: 101n * SCALE }),
  fc.bigInt({ min: 99n * SCALE, max: 101n * SCALE }),
  fc.bigInt({ min: 1n, max: 2000n * SCALE }),
);
const quoteOf = fc
  .record({
    bid: side,
    spread: fc.oneof(fc.bigInt({ min: 0n, max: SCALE / 2n }), fc.bigInt({ min: -SCALE, max: 20n * SCALE })),
    ageNs: fc.bigInt({ min: 0n, max: 14n * SECOND }),
    trade: fc.option(side, { nil: undefined, freq: 8 }),
  })
  .map(({ bid, spread, ageNs, trade }) => {
    const ask = bid + spread;
    return { ...quoteAt(bid, ask < 0n ? 0n : ask, ageNs), trade };
  });
const rateOf = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.bigInt({ min: (SCALE * 99n) / 100n, max: (SCALE * 101n) / 100n }),
);
const marketsOf = fc
  .array(fc.record({ quote: fc.option(quoteOf, { nil: undefined, freq: 10 }), rate: rateOf }), {
    maxLength: 9,
  })
  .map((list) => list.map((fields, i) => market(`m${i}`, fields.quote, fields.rate)));

test('a decision with the readings of an earlier one is the same as without', async (t) => {
  const changed = fc.array(fc.option(fc.record({ quote: quoteOf, rate: rateOf }), { nil: undefined }));
  const property = fc.property(
    marketsOf,
    changed,
    fc.bigInt({ min: -8n, max: 8n }),
    (markets, changes, seconds) => {
      const before = decided(markets);
      const later = markets.map((one, i) => ({ ...one, ...(one.rate === changes[i]?.rate && changes[i]) }));
      const nowNs = (START + seconds * SECOND) as TimeNs;
      const inputs = {
        quoteOf: ({ source }: AssetInput) => later.find(({ name }) => name === source)!.quote,
        priceOf: (symbol: string) => later.find(({ name }) => `RATE-${name}` === symbol)!.rate ?? undefined,
      };
      const plan = planFor(later);
      t.strictSame(decide(plan, { ...inputs, earlier: before.read }, nowNs), decide(plan, inputs, nowNs));
    },
  );
  fc.assert(property, { numRuns: cases(1_000) });
});
