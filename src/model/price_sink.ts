import type { Asset } from './asset.js';
import type { LivePrice } from './price_with_quality.js';
import type { SignedAggregate } from './signed_price.js';
import type { TimeNs } from './time.js';

/**
 * The interface between the code that makes prices and the code that serves prices. The aggregator reports each event to a sink, in
 * order. Inside a process, the messages contain the asset itself. For another thread (`log/feed/feed_bytes.ts`) or another machine
 * (`cluster/ticks/tick_sender.ts`, `cluster/node/term_log.ts`), the sender replaces the asset by its streaming ID, or by its symbol and
 * signature type.
 */
export interface PriceSink {
  /** Reports the asset's first live price, a new live price, or a new quality of its inputs. */
  priced(message: Priced): void;
  /**
   * Reports that an aggregate has been signed.
   * @throws RangeError when the aggregate is larger than the log of a cluster accepts
   */
  signed(message: Aggregated): void;
  /** Reports that an asset has no live price until the next call of {@link priced} for the asset. */
  ended(message: Ended): void;
}

export interface Priced extends LivePrice {
  readonly asset: Asset;
}

export interface Aggregated {
  readonly asset: Asset;
  readonly aggregate: SignedAggregate;
}

export interface Ended {
  readonly asset: Asset;
  readonly atNs: TimeNs;
}
