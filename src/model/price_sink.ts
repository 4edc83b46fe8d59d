import type { Asset } from './asset.js';
import type { Price } from './price.js';
import type { SignedAggregate } from './signed_price.js';
import type { TimeNs } from './time.js';

/**
 * The seam between making prices and serving them. The aggregator tells a sink what happened, in order. Inside one process the messages
 * carry the asset itself. It becomes a streaming ID, or a symbol and a signature type, where a message leaves its thread
 * (`feed/feed_bytes.ts`) or its machine (`cluster/ticks/tick_sender.ts`, `node/term_log.ts`).
 */
export interface PriceSink {
  /** An asset has another live price than before, or its first. */
  priced(message: Priced): void;
  /** An aggregate has been signed. */
  signed(message: Aggregated): void;
  /** An asset has no live price any more, until it is priced again. */
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
