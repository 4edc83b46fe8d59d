import type { Asset } from './asset.js';
import type { Price } from './price.js';
import type { SignedAggregate } from './signed_price.js';
import type { TimeNs } from './time.js';

/**
 * The seam between making prices and serving them. The aggregator reports to a sink what happened, in order. Inside one process the
 * messages carry the asset itself. An asset becomes a streaming ID, or a symbol and a signature type, where a message leaves its thread
 * (`feed/feed_bytes.ts`) or its machine (`cluster/ticks/tick_sender.ts`, `node/term_log.ts`).
 */
export interface PriceSink {
  /** Reports that an asset has a new live price, or its first. */
  priced(message: Priced): void;
  /** Reports that an aggregate has been signed. */
  signed(message: Aggregated): void;
  /** Reports that an asset has no live price until it is priced again. */
  ended(message: Ended): void;
}

export interface Priced {
  readonly asset: Asset;
  readonly price: Price;
}

export interface Aggregated {
  readonly asset: Asset;
  readonly aggregate: SignedAggregate;
}

export interface Ended {
  readonly asset: Asset;
  readonly atNs: TimeNs;
}
