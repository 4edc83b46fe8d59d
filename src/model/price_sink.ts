import type { AssetName } from './asset_map.js';
import type { Price } from './price.js';
import type { SignedAggregate } from './signed_price.js';
import type { TimeNs } from './time.js';

/**
 * The seam between making prices and serving them. The aggregator reports to a sink what happened, in order. The messages can go
 * to another thread or machine: they name assets by streaming ID, or by symbol and signature type, never by an index of this
 * process.
 */
export interface PriceSink {
  /** Reports that an asset has a new live price, or its first. */
  priced(message: Priced): void;
  /** Reports that an aggregate has been signed. */
  signed(aggregate: SignedAggregate): void;
  /** Reports that an asset has no live price until it is priced again. */
  ended(message: Ended): void;
}

export interface Priced {
  readonly streamingId: number;
  readonly price: Price;
}

export interface Ended extends AssetName {
  readonly atNs: TimeNs;
}
