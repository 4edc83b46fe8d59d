import type { FeedSource } from '../../log/feed/feed_source.js';
import type { AssetName } from '../../model/asset_map.js';
import type { Catalogue } from '../../model/catalogue.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { Clock } from '../../model/time.js';
import type { PriceListener } from '../ticks/tick_receiver.js';

/** Serves the prices of another node that leads. Its assets may differ from this node's assets. */
export class LeaderPrices implements PriceListener {
  readonly #source: Pick<FeedSource, 'priced' | 'ended'>;
  readonly #clock: Clock;
  readonly #catalogue: () => Catalogue;

  /** @param catalogue returns the current catalogue */
  constructor(source: Pick<FeedSource, 'priced' | 'ended'>, clock: Clock, catalogue: () => Catalogue) {
    this.#source = source;
    this.#clock = clock;
    this.#catalogue = catalogue;
  }

  priced({ symbol, signatureType }: AssetName, { price, quality }: LivePrice): void {
    const asset = this.#catalogue().findAsset(symbol, signatureType);
    if (asset !== undefined) this.#source.priced({ asset, price, quality });
  }

  ended(name: AssetName): void {
    const asset = this.#catalogue().placedAsset(name);
    if (asset !== undefined) this.#source.ended({ asset, atNs: this.#clock.nowNs() });
  }

  /** Ends the prices of assets that a reload removed. */
  endRemoved(before: Catalogue): void {
    for (const asset of before.listed) if (!this.#catalogue().isListed(asset)) this.ended(asset);
  }
}
