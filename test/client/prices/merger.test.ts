import fc from 'fast-check';
import { test } from 'tap';
import { Merger, type SourcedPrice } from '../../../src/client/prices/merger.js';

// Tests of a merged sequence of prices from several services, with arbitrary delays, losses and clock errors.

const START_NS = 1_757_543_080_000_000_000n;
const NS_PER_MS = 1_000_000n;
const SOURCES = 3;
/** A time longer than the largest delay plus the largest clock difference. */
const APART_MS = 100;

interface Change {
  readonly afterMs: number;
  readonly price: bigint;
  /** The delay of the change at each service. */
  readonly delaysMs: readonly number[];
  /** The services that skip the change. A service may skip changes that follow each other quickly. */
  readonly skips: readonly boolean[];
}

const perSource = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: SOURCES, maxLength: SOURCES });
const change: fc.Arbitrary<Change> = fc.record({
  afterMs: fc.integer({ min: 1, max: 300 }),
  // The range contains few prices, so that prices often repeat.
  price: fc.bigInt({ min: 1n, max: 4n }),
  delaysMs: perSource(fc.integer({ min: 0, max: 60 })),
  skips: perSource(fc.boolean()),
});
const changes = fc.array(change, { minLength: 1, maxLength: 60 }).map((all) => {
  // A repeated price is not a change.
  return all.filter(({ price }, i) => i === 0 || price !== all[i - 1]!.price);
});
const clocksAheadMs = perSource(fc.integer({ min: 0, max: 30 }));

test('real_time: clocks may differ by less than the changes are apart', async () => {
  fc.assert(
    fc.property(changes, clocksAheadMs, (all, aheadMs) => {
      const apart = withoutSkips(all).map((one) => ({ ...one, afterMs: one.afterMs + APART_MS }));
      const admitted = merged(apart, aheadMs);
      return grows(admitted) && pricesOf(admitted) === all.map(({ price }) => price).join();
    }),
    { numRuns: 2_000 },
  );
});

test('real_time: whatever services skip, times grow and the last price is the last one', async () => {
  fc.assert(
    fc.property(changes, clocksAheadMs, (all, aheadMs) => {
      const lastWhole = all.map((one, i) => (i < all.length - 1 ? one : { ...one, skips: [] }));
      const admitted = merged(lastWhole, aheadMs);
      return grows(admitted) && admitted.at(-1)?.price === all.at(-1)!.price;
    }),
    { numRuns: 2_000 },
  );
});

test('fixed channels: each tick counts once, whoever sends it first, and times grow', async () => {
  const interval = 100;
  const ticks = fc.array(perSource(fc.option(fc.integer({ min: 0, max: 70 }), { freq: 4 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(ticks, (delays) => {
      const sent = delays.flatMap((delaysMs, tick) =>
        delaysMs.flatMap((delayMs, source) =>
          delayMs === null ? [] : [{ atMs: tick * interval + delayMs, source, price: BigInt(tick) }],
        ),
      );
      sent.sort((a, b) => a.atMs - b.atMs);
      const merger = new Merger(interval);
      const admitted = sent
        .map(({ source, atMs, price }, i) =>
          priceOf(source, START_NS + BigInt(atMs) * NS_PER_MS + BigInt(i), price),
        )
        .filter((price) => merger.admit(price));
      const expected = delays.flatMap((delaysMs, tick) =>
        delaysMs.every((delay) => delay === null) ? [] : [tick],
      );
      return grows(admitted) && pricesOf(admitted) === expected.join();
    }),
  );
});

function priceOf(source: number, timestampNs: bigint, price: bigint): SourcedPrice {
  return { source, symbol: 'A', timestampNs, price, attributes: {} };
}

function withoutSkips(changes: readonly Change[]): Change[] {
  return changes.map((one) => ({ ...one, skips: [] }));
}

/** Returns the changes that the merger admits on `real_time`, from all messages of the services. */
function merged(changes: readonly Change[], aheadMs: readonly number[]): SourcedPrice[] {
  const merger = new Merger(undefined);
  return arrivals(changes, aheadMs).filter((price) => merger.admit(price));
}

/**
 * Returns the messages of the services in the order of their arrival. Each service sends its changes in order, and at most
 * one change in a millisecond.
 */
function arrivals(changes: readonly Change[], clocksAheadMs: readonly number[]): SourcedPrice[] {
  const sent: { readonly atMs: number; readonly price: SourcedPrice }[] = [];
  const lastMs: number[] = new Array(SOURCES).fill(0);
  let nowMs = 0;
  for (const { afterMs, price, delaysMs, skips } of changes) {
    nowMs += afterMs;
    for (const [source, delayMs] of delaysMs.entries()) {
      if (skips[source] === true) continue;
      const atMs = Math.max(nowMs + delayMs, lastMs[source]! + 1);
      lastMs[source] = atMs;
      const timestampNs = START_NS + BigInt(atMs + clocksAheadMs[source]!) * NS_PER_MS + BigInt(source);
      sent.push({ atMs, price: priceOf(source, timestampNs, price) });
    }
  }
  return sent.sort((a, b) => a.atMs - b.atMs || a.price.source - b.price.source).map(({ price }) => price);
}

function grows(prices: readonly SourcedPrice[]): boolean {
  return prices.every(({ timestampNs }, i) => i === 0 || timestampNs > prices[i - 1]!.timestampNs);
}

function pricesOf(prices: readonly SourcedPrice[]): string {
  return prices.map(({ price }) => price).join();
}
