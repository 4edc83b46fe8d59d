import { listSegments, logFolderOf, SegmentReader } from '../../../src/log/disk/segment.js';
import { LatestInput } from '../../../src/log/records/latest_input.js';
import { readEntry } from '../../../src/log/store/log_entries.js';
import type { Store } from '../../../src/log/store/store.js';
import type { StoreOptions } from '../../../src/log/store/store_options.js';
import type { Asset, ListedPublisher } from '../../../src/model/asset.js';
import { toHex } from '../../../src/model/hex.js';
import { PRICE_SCALE, type Price } from '../../../src/model/price.js';
import type { SeenUpdates } from '../../../src/model/seen_updates.js';
import type { PublisherPrice, SignedAggregate } from '../../../src/model/signed_price.js';
import { NS_PER_SECOND, type TimeNs } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleAsset as oneAsset, samplePublisher as onePublisher } from '../../model/sample.js';

/** The start: 2024-01-01T00:00:00Z, a Monday. */
export const START_S = 1_704_067_200;
export const YEARS_MS = 3_650 * 86_400_000;

export function atSecond(second: number, ns = 0n): TimeNs {
  return (BigInt(second) * NS_PER_SECOND + ns) as TimeNs;
}

export function sampleAsset(index: number, over: Partial<Asset> = {}): Asset {
  return oneAsset({ index, id: index + 1, symbol: `ASSET${index}USD`, ...over });
}

export function samplePublisher(index: number, over: Partial<ListedPublisher> = {}): ListedPublisher {
  return onePublisher({ ...over, index });
}

/** Returns the memory of an input that was accepted after two inputs of the previous second. */
export function seenOf({ timestampNs }: PublisherPrice): SeenUpdates {
  const second = Number(timestampNs / NS_PER_SECOND);
  return {
    floorNs: (timestampNs - 2n * NS_PER_SECOND) as TimeNs,
    updates: [
      { hashKey: 2 ** 53 - 1, second: second - 1, nanos: 999_999_999, sender: 'Zoë' },
      { hashKey: 2 ** 52, second: second - 1, nanos: 0, sender: 'bob' },
      { hashKey: 1, second, nanos: Number(timestampNs % NS_PER_SECOND), sender: 'bob' },
    ],
  };
}

export function sampleInput(
  asset: Asset,
  publisher: ListedPublisher,
  price: Price,
  timestampNs: TimeNs,
): PublisherPrice {
  const isEvm = publisher.signatureType === 'evm';
  const msgHash = new Uint8Array(32).fill(Number(timestampNs % 251n));
  return {
    price,
    timestampNs,
    wire: {
      publisherKey: `0x${publisher.key.toString('hex')}`,
      externalAssetId: isEvm ? asset.symbol : '0x44594458555344000000000000000000637a6f7778',
      price: price.toString(),
      // The Stark signature has an odd number of digits, because its leading zero was dropped.
      r: isEvm ? `0x${'14e378dc'.repeat(8)}` : `0x${'7cc1cf795'.repeat(7)}`,
      s: `0x${'79b4823a'.repeat(8)}`,
      v: isEvm ? '0x1b' : undefined,
      msgHash: publisher.index === 1 ? `0x${'4A8e2a9c'.repeat(8)}` : toHex(msgHash),
      metadata: publisher.index === 1 ? '{"venue":"Zürich"}' : undefined,
    },
  };
}

/** Returns an aggregate that has an input of each publisher. */
export function sampleAggregate(
  asset: Asset,
  publishers: readonly ListedPublisher[],
  price: Price,
  signedAtNs: TimeNs,
): SignedAggregate {
  const isEvm = asset.signatureType === 'evm';
  const seed = Number(signedAtNs % 251n);
  return {
    symbol: asset.symbol,
    trigger: seed % 2 === 0 ? 'clock' : 'delta',
    price,
    timestampNs: (signedAtNs - 1_000n) as TimeNs,
    signedAtNs,
    signatureType: asset.signatureType,
    publicKey: isEvm ? '0xC4a02e7D370402F4aFC36032076B05e74FF81786' : `0x${'418d3fd82'.repeat(7)}`,
    msgHash: new Uint8Array(32).fill(seed),
    r: new Uint8Array(32).fill(seed + 1),
    s: new Uint8Array(32).fill(seed + 2),
    v: isEvm ? 27 + (seed % 2) : undefined,
    merkleRoot: new Uint8Array(32).fill(seed + 3),
    algorithm: asset.aggregation,
    inputs: publishers.map((publisher) =>
      sampleInput(asset, publisher, price, (signedAtNs - 1_000n) as TimeNs),
    ),
  };
}

/** Returns whole units as a price. */
export function units(count: number): Price {
  return (BigInt(count) * PRICE_SCALE) as Price;
}

export interface SampleOptions extends StoreOptions {
  readonly assets: readonly Asset[];
  /** The publishers of the aggregates' inputs. */
  readonly publishers: readonly ListedPublisher[];
}

/** Puts the inputs of an aggregate into the store, like the aggregator does. */
export function putInputs(store: Store, aggregate: SignedAggregate): void {
  for (const input of aggregate.inputs) {
    const key = Buffer.from(input.wire.publisherKey.slice(2), 'hex');
    const latest = new LatestInput(seenOf(input));
    latest.restore(input);
    store.putInput(aggregate, key, latest);
  }
}

export function storeOptions(dir: string, over: Partial<SampleOptions> = {}): SampleOptions {
  return {
    dir,
    assets: [sampleAsset(0), sampleAsset(1)],
    publishers: [samplePublisher(0), samplePublisher(1)],
    candleRetentionMs: YEARS_MS,
    clock: new FakeClock(atSecond(START_S)),
    ...over,
  };
}

/** Returns the prices of the aggregates in the segments of a data folder's log, in order. */
export async function pricesIn(dir: string): Promise<Price[]> {
  const prices: Price[] = [];
  for (const entry of await entriesIn(dir))
    readEntry(entry, {
      holding: (_asset, { aggregate }) => aggregate && prices.push(aggregate.price),
      minuteClosed() {},
      input() {},
      mark() {},
    });
  return prices;
}

/** Returns the entries in the segments of a data folder's log. */
export async function entriesIn(dir: string): Promise<string[]> {
  const entries: string[] = [];
  const folder = logFolderOf(dir);
  for (const segment of listSegments(folder)) {
    const reader = await SegmentReader.open(folder, segment);
    await reader?.refresh((lines) => void entries.push(...lines));
    await reader?.close();
  }
  return entries;
}
