import type { Price } from '../../model/price.js';
import type { AssetKey } from './id_mapping.js';

/** The prices that the readers of a node see, whoever leads. */
export interface ShownPrices {
  /** The host has told its readers. @param price `undefined` when there is none any more */
  show(asset: AssetKey, price: Price | undefined): void;
  /** Ends every shown price that is not one of these, and tells the host. */
  keep(live: ReadonlyMap<AssetKey, Price>): void;
}
