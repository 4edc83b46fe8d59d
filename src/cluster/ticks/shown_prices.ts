import type { LivePrice } from '../../model/price_with_quality.js';
import type { AssetKey } from './id_mapping.js';

/** The prices that a node's readers see, independent of the leader. */
export interface ShownPrices {
  /**
   * Notes the price that the host has shown to its readers.
   * @param live `undefined` when the asset no longer has a price
   */
  show(asset: AssetKey, live: LivePrice | undefined): void;
  /** Ends every shown price that is not in `live`, and reports this to the host. */
  keep(live: ReadonlyMap<AssetKey, LivePrice>): void;
}
