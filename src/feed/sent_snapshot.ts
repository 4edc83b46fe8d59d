import type { AssetName } from '../model/asset_map.js';
import type { Price } from '../model/price.js';
import { decodeHolding, encodeHolding } from '../records/holding.js';
import type { FeedPosition, Snapshot } from './feed.js';
import { fedAsset, type ReadersCatalogue } from './feed_bytes.js';

/** A {@link Snapshot} in a form that can be sent to a thread: with the names of assets and the records of holdings. */
export interface SentSnapshot extends FeedPosition {
  readonly live: readonly SentAsset[];
}

interface SentAsset extends AssetName {
  readonly price: Price | undefined;
  readonly record: Uint8Array | undefined;
}

export function sentSnapshot({ live, ...position }: Snapshot): SentSnapshot {
  const sent = live.map(({ asset: { symbol, signatureType }, price, holding }) => ({
    symbol,
    signatureType,
    price,
    record: holding && encodeHolding(holding),
  }));
  return { ...position, live: sent };
}

export function receivedSnapshot(
  { live, ...position }: SentSnapshot,
  catalogue: Pick<ReadersCatalogue, 'placedAsset'>,
): Snapshot {
  const received = live.map(({ price, record, ...name }) => ({
    asset: fedAsset(name, catalogue),
    price,
    holding: record && decodeHolding(record),
  }));
  return { ...position, live: received };
}
