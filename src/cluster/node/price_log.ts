import type { Holding } from '../../log/records/holding.js';
import type { Asset } from '../../model/asset.js';
import type { Priced } from '../../model/price_sink.js';
import type { InputStore } from '../../prices/aggregator_options.js';

/**
 * Receives all results of a node while it leads. Appended entries are stored and served when the log applies them. A log in this process
 * (`local_log.ts`) applies entries immediately. The log of a cluster (`term_log.ts`) applies entries when the servers have the record.
 */
export interface PriceLog extends InputStore {
  /** True when another node may lead. The log then ignores new entries. */
  readonly isOver: boolean;
  /** Sends a live price to the other nodes immediately. */
  priced(message: Priced): void;
  /** Tells the other nodes that an asset no longer has a live price. */
  ended(asset: Asset): void;
  append(asset: Asset, holding: Holding): void;
  /**
   * Resolves when all entries appended before the call will survive a crash.
   * @throws Error (as a rejection) when their survival is uncertain
   */
  durable(): Promise<void>;
}
