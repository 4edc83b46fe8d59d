import type { AssetName } from '../../model/asset_map.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import { decodeHolding, encodeHolding } from '../records/holding.js';
import type { FeedPosition, Snapshot } from './feed.js';
import { fedAsset, type ReadersCatalogue } from './feed_bytes.js';

/** A {@link Snapshot} in a form that can be sent to a thread: with the names of assets and the records of holdings. */
export interface SentSnapshot extends FeedPosition {
  readonly live: readonly SentAsset[];
}

interface SentAsset extends AssetName {
  readonly live: LivePrice | undefined;
  readonly record: Uint8Array | undefined;
}

export function sentSnapshot({ live, ...position }: Snapshot): SentSnapshot {
  const sent = live.map(({ asset: { symbol, signatureType }, live: told, holding }) => ({
    symbol,
    signatureType,
    live: told && { price: told.price, quality: told.quality },
    record: holding && encodeHolding(holding),
  }));
  return { ...position, live: sent };
}

export function receivedSnapshot(
  { live, ...position }: SentSnapshot,
  catalogue: Pick<ReadersCatalogue, 'placedAsset'>,
): Snapshot {
  const received = live.map(({ live: told, record, ...name }) => ({
    asset: fedAsset(name, catalogue),
    live: told,
    holding: record && decodeHolding(record),
  }));
  return { ...position, live: received };
}
