import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { type Test, test } from 'tap';
import { appendTo, endIn } from '../../../scripts/load/store_records.js';
import { decodeHolding, encodeHolding, type Holding } from '../../../src/log/records/holding.js';
import { type Follower, NotLoaded, openFollower } from '../../../src/log/store/follower.js';
import { openStore, type Store } from '../../../src/log/store/store.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { Price } from '../../../src/model/price.js';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { RESOLUTIONS } from '../../../src/wire/rest_values.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { cases } from '../../tier.js';
import { atSecond, START_S, sampleAggregate, sampleAsset, storeOptions } from './sample.js';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const CANDLES_MAX = 100_000;

const ASSETS = [
  sampleAsset(0),
  sampleAsset(1, { symbol: sampleAsset(0).symbol, signatureType: 'stark' }),
  sampleAsset(2, { symbol: 'GRÜN/USD' }),
];

/** A store, its follower, and the store's messages that the follower has not received yet. */
class Pair {
  readonly #told: ((follower: Follower) => void)[] = [];
  readonly #loads: Promise<void>[] = [];
  #beginnings = 0;

  private constructor(
    readonly clock: FakeClock,
    readonly store: Store,
    readonly follower: Follower,
  ) {}

  static async open(t: Test): Promise<Pair> {
    const dir = t.testdir();
    const clock = new FakeClock(atSecond(START_S));
    const store = await openStore(storeOptions(dir, { assets: ASSETS, clock }));
    const pair = new Pair(
      clock,
      store,
      openFollower(dir, (reason) => t.fail(reason)),
    );
    pair.begin();
    return pair;
  }

  #tellHolding(asset: AssetName, holding: Holding | undefined): void {
    if (holding === undefined) return;
    const bytes = encodeHolding(holding);
    this.#told.push((follower) => follower.recorded(asset, decodeHolding(bytes)));
  }

  price(asset: (typeof ASSETS)[number], price: bigint): void {
    const aggregate = sampleAggregate(asset, [], price as Price, this.clock.nowNs());
    this.#tellHolding(asset, appendTo(this.store, aggregate));
  }

  end(asset: AssetName): void {
    this.#tellHolding(asset, endIn(this.store, asset, this.clock.nowNs()));
  }

  /** Drops all earlier messages. The follower receives the live states, and reads the files when they have everything. */
  begin(): void {
    const beginning = ++this.#beginnings;
    const live = ASSETS.map((asset) => ({ asset, holding: this.store.newest(asset) }));
    const priced = live.filter(({ holding }) => holding?.state === 'priced');
    this.#told.push((follower) => follower.behind(priced));
    const load = () => {
      if (beginning === this.#beginnings) this.#told.push((follower) => follower.load());
    };
    this.#loads.push(this.store.written().then(load));
  }

  /** Delivers the next messages to the follower. */
  take(count: number): void {
    for (const message of this.#told.splice(0, count)) message(this.follower);
  }

  async settle(): Promise<void> {
    // The clock of these steps runs faster than the writes of closed minutes, which take a fraction of a second.
    await this.store.written();
    await Promise.all(this.#loads.splice(0));
    this.take(Number.POSITIVE_INFINITY);
  }

  compare(message: string): void {
    const nowS = Number(this.clock.nowNs() / NS_PER_SECOND);
    for (const asset of ASSETS) {
      const name = `${message}: ${asset.symbol} ${asset.signatureType}`;
      const isPriced = this.store.newest(asset)?.state === 'priced';
      const read = (reader: Store | Follower) => [
        reader.candleDays(asset),
        isPriced && [reader.newest(asset)?.line, reader.sealedDays(asset)],
        RESOLUTIONS.map((one) => reader.history(asset, one, nowS - 30 * DAY_S, nowS + 1, CANDLES_MAX)),
      ];
      assert.deepEqual(read(this.follower), read(this.store), name);
    }
  }
}

const asset = fc.constantFrom(...ASSETS);
const afterS = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE_S }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * HOUR_S }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 * DAY_S }) },
);
const price = fc.bigInt({ min: -(10n ** 22n), max: 10n ** 24n });
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ afterS, price, asset }) },
  { weight: 2, arbitrary: fc.record({ afterS, end: asset }) },
  { weight: 4, arbitrary: fc.constantFrom('commit' as const, 'awaited commit' as const) },
  { weight: 6, arbitrary: fc.record({ take: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.constantFrom('begin' as const, 'compare' as const) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function carryOut(pair: Pair, step: Step): Promise<void> {
  if (step === 'begin') return pair.begin();
  if (step === 'commit') return void pair.store.durable();
  if (step === 'awaited commit') return pair.store.durable();
  if (step === 'compare') {
    await pair.settle();
    return pair.compare('between');
  }
  if ('take' in step) return pair.take(step.take);
  pair.clock.advance(BigInt(step.afterS) * NS_PER_SECOND);
  if ('end' in step) pair.end(step.end);
  else pair.price(step.asset, step.price);
}

test('what a follower reads is what the store holds, whenever it has taken what it was told', async (t) => {
  const empty = await Pair.open(t);
  t.throws(() => empty.follower.sealedDays(ASSETS[0]!), NotLoaded, 'until it has read the disk');
  await empty.store.close();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const pair = await Pair.open(t);
      try {
        for (const one of steps) await carryOut(pair, one);
        await pair.settle();
        pair.compare('with what waits');
        await pair.store.durable();
        await pair.settle();
        pair.compare('on disk');
      } finally {
        await pair.settle();
        await pair.store.close();
      }
    }),
    { numRuns: cases(40), endOnFailure: true },
  );
});
