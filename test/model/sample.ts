import { LatestInput } from '../../src/log/records/latest_input.js';
import type { Asset, AssetIndex, ListedPublisher, PublisherIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import type { LivePrice } from '../../src/model/price_with_quality.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import type { InputQuality } from '../../src/wire/price_quality.js';

/** The start time: 2026-03-02 14:00:00 UTC, a Monday. All markets are open. */
export const START_NS = (1_772_460_000n * NS_PER_SECOND) as TimeNs;

/** The quality of the inputs of a sample price. */
export const QUALITY: InputQuality = { newestNs: START_NS, publishers: 3, spreadPpm: 90 };

export function livePrice(price: bigint): LivePrice {
  return { price: price as Price, quality: QUALITY };
}

/** Overrides without branded types, so that tests can write plain numbers. */
type Loose<T> = { -readonly [K in keyof T]?: T[K] extends number ? number : T[K] };

export function sampleAsset(overrides: Loose<Asset> = {}): Asset {
  return {
    index: 0 as AssetIndex,
    id: 1,
    symbol: 'BTCUSD',
    signatureType: 'evm',
    aggregation: 'median',
    minPublishers: 1,
    maxAgeNs: 60n * NS_PER_SECOND,
    clockPeriodNs: NS_PER_SECOND / 2n,
    delta: 100_000n,
    maxDeviation: undefined,
    frozen: undefined,
    calendar: 'none',
    ...overrides,
  } as Asset;
}

export function samplePublisher(overrides: Loose<ListedPublisher> = {}): ListedPublisher {
  const index = (overrides.index ?? 0) as PublisherIndex;
  return {
    signatureType: 'evm',
    key: Buffer.alloc(20, index + 1),
    oracleId: undefined,
    assets: new Set(['*']),
    weight: 1_000_000n,
    ...overrides,
    index,
  } as ListedPublisher;
}

/** Returns an accepted input with arbitrary wire texts. */
export function sampleInput(
  asset: Asset,
  publisher: ListedPublisher,
  price: bigint,
  timestampNs: bigint,
): PublisherPrice {
  return {
    price: price as Price,
    timestampNs: timestampNs as TimeNs,
    wire: {
      publisherKey: `0x${publisher.key.toString('hex')}`,
      externalAssetId: asset.symbol,
      price: String(price),
      r: '0x1',
      s: '0x2',
      v: '0x1b',
      msgHash: '0x3',
      metadata: undefined,
    },
  };
}

/** Returns the memory of a pair with this input, and an empty window. */
export function latestOf(input: PublisherPrice): LatestInput {
  const latest = new LatestInput({ floorNs: START_NS, updates: [] });
  latest.restore(input);
  return latest;
}
