import type { Price } from '../../model/price.js';
import type { AssetKey } from './id_mapping.js';

/** The prices that a node's readers see, independent of the leader. */
export interface ShownPrices {
  /**
   * Notes the price that the host has shown to its readers.
   * @param price `undefined` when the asset no longer has a price
   */
  show(asset: AssetKey, price: Price | undefined): void;
  /** Ends every shown price that is not in `live`, and reports this to the host. */
  keep(live: ReadonlyMap<AssetKey, Price>): void;
}
