import type { AssetName } from './asset_map.js';
import type { Price } from './price.js';
import type { SignedAggregate } from './signed_price.js';
import type { TimeNs } from './time.js';

/**
 * The seam between making prices and serving them. The aggregator tells a sink what happened, in order. The messages can
 * go to another thread or machine: they name assets by streaming ID, or by symbol and signature type, never by an index of
 * this process.
 */
export interface PriceSink {
  /** An asset has another live price than before, or its first. */
  priced(message: Priced): void;
  /** Aggregates have been signed. */
  signed(message: Signed): void;
  /** An asset has no live price any more, until it is priced again. */
  ended(message: Ended): void;
}

/** The place of a message among all messages of one aggregator. When a number is missing, the sink has missed a message. */
export interface FeedPosition {
  /** The run of the aggregator; a later run has a greater epoch. */
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
