import type { AssetName } from './asset_map.js';
import type { Price } from './price.js';
import type { SignedAggregate } from './signed_price.js';
import type { TimeNs } from './time.js';

/**
 * The seam between making prices and serving them. The aggregator tells a sink what happened, in order, in terms that
 * another thread or machine can take: assets by streaming ID, or by symbol and signature type, never by an index of this process.
 */
export interface PriceSink {
  /** An asset has another live price than before, or its first. */
  priced(message: Priced): void;
  /** Aggregates have been signed. */
  signed(message: Signed): void;
  /** An asset has no live price any more, until it is priced again. */
  ended(message: Ended): void;
}

/** Where a message stands in what one aggregator tells. A sink that sees a number skipped has missed something. */
export interface FeedPosition {
  /** The run of the aggregator that tells it; a later run has a greater one. */
  readonly epoch: number;
  /** Counts the messages of an epoch from 1, all kinds together. */
  readonly sequence: number;
}

export interface Priced extends FeedPosition {
  readonly streamingId: number;
  readonly price: Price;
}

export interface Signed extends FeedPosition {
  readonly aggregate: SignedAggregate;
}

export interface Ended extends FeedPosition, AssetName {
  readonly atNs: TimeNs;
}
