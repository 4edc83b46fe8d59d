import type { InputStore } from '../aggregator/aggregator.js';
import type { Asset } from '../model/asset.js';
import type { Price } from '../model/price.js';
import type { Holding } from '../records/second_record.js';

/**
 * Takes what a node makes while it leads. What is appended is stored and served when the log applies it: a log in this process
 * (`local_log.ts`) does that at once, the log of a cluster (`term_log.ts`) when its servers have the record.
 */
export interface PriceLog extends InputStore {
  /** Another node may lead: nothing is taken any more. */
  readonly isOver: boolean;
  /** Brings a live price to the other nodes at once. */
  priced(asset: Asset, price: Price): void;
  /** Tells the other nodes that an asset has no live price any more. */
  ended(asset: Asset): void;
  append(asset: Asset, holding: Holding): void;
  /** Resolves when what was appended before will survive a crash. @throws Error (as a rejection) when that is not known */
  durable(): Promise<void>;
}
