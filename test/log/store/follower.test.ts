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
  readonly clock = new FakeClock(atSecond(START_S));
  readonly #told: ((follower: Follower) => void)[] = [];
  readonly #loads: Promise<void>[] = [];
  #beginnings = 0;

  private constructor(
    readonly store: Store,
    readonly follower: Follower,
  ) {}

  static async open(t: Test): Promise<Pair> {
    const dir = t.testdir();
    const clock = new FakeClock(atSecond(START_S));
    const store = await openStore(storeOptions(dir, { assets: ASSETS, clock }));
    const follower = openFollower(dir, (reason) => t.fail(reason));
    const pair = new Pair(store, follower);
    Object.assign(pair, { clock });
    pair.begin();
    return pair;
  }

  #tell(message: (follower: Follower) => void): void {
    this.#told.push(message);
  }

  #tellHolding(asset: AssetName, holding: Holding | undefined): void {
    if (holding === undefined) return;
    const bytes = encodeHolding(holding);
    this.#tell((follower) => follower.recorded(asset, decodeHolding(bytes)));
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
    this.#tell((follower) => follower.behind(priced));
    const load = () => {
      if (beginning === this.#beginnings) this.#tell((follower) => follower.load());
    };
    this.#loads.push(this.store.written().then(load));
  }

  /** Delivers the next messages to the follower. */
  take(count: number): void {
    for (const message of this.#told.splice(0, count)) message(this.follower);
  }

  /** Delivers all messages to the follower. */
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
      for (const resolution of RESOLUTIONS)
        this.#same(`${name}: ${resolution}`, (reader) =>
          reader.history(asset, resolution, nowS - 30 * DAY_S, nowS + 1, CANDLES_MAX),
        );
      this.#same(`${name}: days`, (reader) => reader.candleDays(asset));
      if (this.store.newest(asset)?.state === 'priced') {
        this.#same(`${name}: newest`, (reader) => reader.newest(asset)?.line);
        this.#same(`${name}: sealed days`, (reader) => reader.sealedDays(asset));
      }
    }
  }

  #same(message: string, read: (reader: Store | Follower) => unknown): void {
    assert.deepEqual(read(this.follower), read(this.store), message);
  }

  async close(): Promise<void> {
    await this.settle();
    await this.store.close();
  }
}

const asset = fc.constantFrom(...ASSETS);
const afterS = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE_S }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * HOUR_S }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 * DAY_S }) },
);
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('price' as const),
      asset,
      afterS,
      price: fc.bigInt({ min: -(10n ** 22n), max: 10n ** 24n }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), asset, afterS }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('commit' as const), isAwaited: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), count: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('begin', 'compare') }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function carryOut(pair: Pair, step: Step): Promise<void> {
  if ('afterS' in step) pair.clock.advance(BigInt(step.afterS) * NS_PER_SECOND);
  switch (step.do) {
    case 'price':
      return pair.price(step.asset, step.price);
    case 'end':
      return pair.end(step.asset);
    case 'take':
      return pair.take(step.count);
    case 'commit': {
      const durable = pair.store.durable();
      if (step.isAwaited) await durable;
      return;
    }
    case 'begin':
      return pair.begin();
    case 'compare':
      await pair.settle();
      pair.compare('between');
  }
}

test('what a follower reads is what the store holds, whenever it has taken what it was told', async (t) => {
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
        await pair.close();
      }
    }),
    { numRuns: cases(40), endOnFailure: true },
  );
});

test('until it has read the disk a follower cannot be read', async (t) => {
  const pair = await Pair.open(t);
  pair.price(ASSETS[0]!, 1n);
  pair.take(1);
  t.throws(() => pair.follower.history(ASSETS[0]!, '1', 0, START_S, 1), NotLoaded);
  t.throws(() => pair.follower.sealedDays(ASSETS[0]!), NotLoaded);
  await pair.settle();
  pair.compare('after it');
  await pair.close();
});
