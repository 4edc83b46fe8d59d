import type { InputStore } from '../aggregator/aggregator.js';
import type { Asset } from '../model/asset.js';
import type { Price } from '../model/price.js';
import type { Holding } from '../records/second_record.js';

/**
 * Receives everything that a node makes while it leads. Appended entries are stored and served when the log applies them: a log
 * in this process (`local_log.ts`) does that at once, the log of a cluster (`term_log.ts`) when its servers have the record.
 */
export interface PriceLog extends InputStore {
  /** True when another node may lead: entries are ignored. */
  readonly isOver: boolean;
  /** Sends a live price to the other nodes at once. */
  priced(asset: Asset, price: Price): void;
  /** Tells the other nodes that an asset has no live price any more. */
  ended(asset: Asset): void;
  append(asset: Asset, holding: Holding): void;
  /** Resolves when all entries that were appended before will survive a crash. @throws Error (as a rejection) when that is unknown */
  durable(): Promise<void>;
}
