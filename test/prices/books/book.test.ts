import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import {
  type AggregationType,
  type Asset,
  type ListedPublisher,
  PERCENT_SCALE,
} from '../../../src/model/asset.js';
import { PRICE_MAX, PRICE_MIN } from '../../../src/model/price.js';
import type { PublisherPrice } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { AssetBook } from '../../../src/prices/books/book.js';
import { AGGREGATION_TYPES } from '../../../src/wire/algorithms.js';
import { latestOf, START_NS, sampleAsset, sampleInput, samplePublisher } from '../../model/sample.js';
import { cases } from '../../tier.js';

const PERCENT = BigInt(PERCENT_SCALE);
const MAX_AGE_NS = 100n;
const MAX_FUTURE_NS = 20n;
// The keys descend while the indexes ascend, so that inputs and publishers are in different orders.
const publishers = Array.from({ length: 7 }, (_, index) =>
  samplePublisher({ index, key: Buffer.alloc(20, 0xf0 - index), weight: BigInt(index + 1) * 300_000n }),
);

function put(book: AssetBook, publisher: number, price: bigint, ageNs = 0n, nowNs: bigint = START_NS): void {
  const by = publishers[publisher]!;
  book.put(by, latestOf(sampleInput(book.asset, by, price, nowNs - ageNs)), nowNs as TimeNs);
}

/** The aggregate by its definition. This book sorts and sums up all inputs again for each price. */
class SlowBook {
  readonly #inputs = new Map<ListedPublisher, PublisherPrice>();
  /** All prices of each publisher, with the times at which they came. */
  readonly #history = new Map<ListedPublisher, { readonly price: bigint; readonly atNs: bigint }[]>();
  readonly #frozen = new Set<ListedPublisher>();

  constructor(readonly asset: Asset) {}

  put(publisher: ListedPublisher, input: PublisherPrice, nowNs: bigint): void {
    this.#inputs.set(publisher, input);
    const history = this.#history.get(publisher) ?? [];
    this.#history.set(publisher, [...history, { price: input.price, atNs: nowNs }]);
    const { frozen } = this.asset;
    if (frozen === undefined) return;
    const [lastMove] = this.#moves(publisher).slice(-1);
    if (lastMove === this.#history.get(publisher)!.length - 1) this.#frozen.delete(publisher);
    const standsSinceNs = this.#history.get(publisher)![lastMove ?? 0]!.atNs;
    if (nowNs - standsSinceNs <= frozen.afterNs) return;
    const moving = [...this.#history.keys()].filter((other) =>
      this.#moves(other).some((place, i, all) => {
        const isLast = i === all.length - 1;
        return isLast && this.#history.get(other)![place]!.atNs > nowNs - frozen.afterNs;
      }),
    );
    if (moving.length >= 2) this.#frozen.add(publisher);
  }

  /** Returns the places of the moves in a publisher's history. */
  #moves(publisher: ListedPublisher): number[] {
    const history = this.#history.get(publisher)!;
    const moves: number[] = [];
    for (let place = 1, from = history[0]!.price; place < history.length; place++) {
      const distance = magnitude(history[place]!.price - from);
      if (distance === 0n || distance * 1_000_000n < magnitude(from) * this.asset.frozen!.ppm) continue;
      moves.push(place);
      from = history[place]!.price;
    }
    return moves;
  }

  state(nowNs: bigint): { price: bigint | undefined; counted: PublisherPrice[]; size: number } {
    const { maxAgeNs, maxDeviation, minPublishers, aggregation } = this.asset;
    for (const [publisher, { timestampNs }] of this.#inputs)
      if (nowNs - timestampNs > maxAgeNs || timestampNs - nowNs > MAX_FUTURE_NS)
        this.#inputs.delete(publisher);
    const all = [...this.#inputs];
    const fresh = all.filter(([publisher]) => !this.#frozen.has(publisher));
    const middle = median(fresh.map(([, { price }]) => price));
    const counted = fresh.filter(([, { price }]) => {
      if (maxDeviation === undefined || middle === undefined) return true;
      // The condition is distance / |median| <= percent / 100.
      const distance = magnitude(price - middle) * 100n * PERCENT;
      return distance <= magnitude(middle) * maxDeviation;
    });
    const byKey = [...counted].sort(([a], [b]) => (number(a.key) < number(b.key) ? -1 : 1));
    const isEnough = counted.length > 0 && counted.length >= minPublishers;
    return {
      price: isEnough ? aggregate(aggregation, counted) : undefined,
      counted: byKey.map(([, input]) => input),
      size: all.length,
    };
  }
}

function aggregate(
  type: AggregationType,
  inputs: readonly (readonly [ListedPublisher, PublisherPrice])[],
): bigint {
  if (type === 'median') return median(inputs.map(([, { price }]) => price))!;
  if (type === 'trimmed mean') {
    const sorted = inputs.map(([, { price }]) => price).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const k = Math.floor(sorted.length / 4);
    const kept = sorted.slice(k, sorted.length - k);
    return kept.reduce((total, price) => total + price, 0n) / BigInt(kept.length);
  }
  const weightOf = ({ weight }: ListedPublisher) => (type === 'average' ? 1n : weight);
  const sum = inputs.reduce((total, [publisher, { price }]) => total + price * weightOf(publisher), 0n);
  return sum / inputs.reduce((total, [publisher]) => total + weightOf(publisher), 0n);
}

function median(prices: readonly bigint[]): bigint | undefined {
  const sorted = [...prices].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const half = sorted.length / 2;
  if (sorted.length === 0) return undefined;
  return sorted.length % 2 === 1 ? sorted[Math.floor(half)]! : (sorted[half - 1]! + sorted[half]!) / 2n;
}

/** The quality of at least one input. */
function qualityOf(inputs: readonly PublisherPrice[]): object {
  const prices = inputs.map(({ price }) => price);
  const [lowest, highest] = [least(prices), -least(prices.map((price) => -price))];
  const middle = magnitude(median(prices)!);
  const most = 2n ** 32n - 1n;
  const spread =
    middle === 0n ? (highest === lowest ? 0n : most) : ((highest - lowest) * 1_000_000n) / middle;
  return {
    newestNs: -least(inputs.map(({ timestampNs }) => -timestampNs)),
    publishers: inputs.length,
    spreadPpm: Number(least([spread, most])),
  };
}

function least(values: readonly bigint[]): bigint {
  return values.reduce((one, other) => (one < other ? one : other));
}

/** Returns an input without its accessors. */
const plain = ({ price, timestampNs, wire }: PublisherPrice) => ({ price, timestampNs, wire });
const magnitude = (value: bigint) => (value < 0n ? -value : value);
const number = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`);

test('any sequence of inputs and expiries gives the same as sorting all inputs anew', async () => {
  const asset = fc.record({
    aggregation: fc.constantFrom(...AGGREGATION_TYPES),
    minPublishers: fc.integer({ min: 1, max: 4 }),
    maxDeviation: fc.option(fc.constantFrom(0n, 1n, 5n * PERCENT, 50n * PERCENT, 200n * PERCENT), {
      nil: undefined,
    }),
    frozen: fc.option(
      fc.record({ afterNs: fc.constantFrom(1n, 30n, 90n), ppm: fc.constantFrom(1n, 10_000n, 500_000n) }),
      { nil: undefined },
    ),
  });
  const price = fc.oneof(
    fc.bigInt({ min: -120n, max: 120n }),
    fc.bigInt({ min: 95n, max: 105n }),
    fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }),
  );
  const step = fc.record({
    publisher: fc.option(fc.nat(publishers.length - 1)),
    price,
    ageNs: fc.bigInt({ min: -5n, max: MAX_AGE_NS + 3n }),
    passNs: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 60n }), fc.bigInt({ min: -50n, max: 0n })),
  });
  fc.assert(
    fc.property(asset, fc.array(step, { maxLength: 40, size: 'max' }), (settings, steps) => {
      const sample = sampleAsset({ ...settings, maxAgeNs: MAX_AGE_NS });
      const book = new AssetBook(sample, MAX_FUTURE_NS);
      const slow = new SlowBook(sample);
      let nowNs: bigint = START_NS;
      for (const { publisher, price: value, ageNs, passNs } of steps) {
        nowNs += passNs;
        if (publisher === null) {
          book.expire(nowNs as TimeNs);
        } else {
          const by = publishers[publisher]!;
          const input = sampleInput(sample, by, value, nowNs - ageNs);
          book.put(by, latestOf(input), nowNs as TimeNs);
          slow.put(by, input, nowNs);
        }
        const expected = slow.state(nowNs);
        const counted = book.counted();
        if (book.price !== expected.price || book.size !== expected.size) return false;
        if (counted.length !== expected.counted.length) return false;
        if (!isDeepStrictEqual(counted.map(plain), expected.counted)) return false;
        if (expected.price === undefined) continue;
        if (!isDeepStrictEqual(book.quality(), qualityOf(expected.counted))) return false;
      }
      return true;
    }),
    { numRuns: cases(600) },
  );
});

test('a changed configuration takes effect on present inputs', async (t) => {
  const book = new AssetBook(sampleAsset({ aggregation: 'average' }), MAX_FUTURE_NS);
  put(book, 0, 10n);
  put(book, 1, 20n);
  put(book, 2, 60n);
  t.equal(book.price, 30n);
  const heavier = { ...publishers[1]!, weight: publishers[0]!.weight * 3n };
  const weighted = sampleAsset({ aggregation: 'weighted average' });
  book.reload(weighted, (by) => [publishers[0], heavier, undefined][by.index], START_NS);
  t.equal(book.price, 17n, '(10 + 3 * 20) / 4');
  t.equal(book.size, 2);
  book.reload(sampleAsset({ minPublishers: 3 }), (by) => by, START_NS);
  t.equal(book.price, undefined);
  book.reload(sampleAsset({ minPublishers: 2 }), (by) => by, START_NS);
  t.equal(book.price, 15n);
  book.reload(sampleAsset(), () => undefined, START_NS);
  t.same([book.price, book.size, book.expiresAtNs], [undefined, 0, undefined]);
});

test('a changed rule lets frozen publishers count, or forgets those that are gone', async (t) => {
  const asset = sampleAsset({ maxAgeNs: 1_000n, frozen: { afterNs: 40n, ppm: 10n } });
  const book = new AssetBook(asset, MAX_FUTURE_NS);
  for (let round = 0; round < 8; round++)
    for (const [publisher, price] of [1_000n + BigInt(round), 1_002n + BigInt(round), 5n].entries())
      put(book, publisher, price, 0n, START_NS + BigInt(10 * round));
  const nowNs = (START_NS + 71n) as TimeNs;
  t.same([book.frozen, book.counted().length], [[publishers[2]], 2]);
  book.reload(sampleAsset({ maxAgeNs: 1_000n }), (by) => by, nowNs);
  t.same([book.frozen, book.counted().length], [[], 3]);
  book.reload(asset, (by) => (by.index === 2 ? undefined : by), nowNs);
  t.same([book.frozen, book.size], [[], 2]);
});
