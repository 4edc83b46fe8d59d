import type { Asset } from '../model/asset.js';
import { AssetMap } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Price } from '../model/price.js';
import type { Ended, Priced } from '../model/price_sink.js';
import type { SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import type { Holding } from '../records/second_record.js';
import type { Feed, FeedPosition, Recorded, Snapshot } from './feed.js';

/** What brings it to the edges. */
type PriceFeed = Pick<Feed, 'priced' | 'recorded' | 'withdrawn' | 'ended'>;

interface FedAsset {
  readonly asset: Asset;
  price: Price | undefined;
  holding: Holding | undefined;
}

/** Tells the edges of this process each change of a price and each new record, and can tell them the whole table. */
export class FeedSource {
  readonly #epoch: number;
  #sequence = 0;
  #feed: PriceFeed | undefined;
  /** By asset index. */
  readonly #live = new Map<number, FedAsset>();
  #catalogue!: Catalogue;
  #assetByName!: AssetMap;
  #assetById!: ReadonlyMap<number, Asset>;

  /** @param epoch greater than that of every start before */
  constructor(catalogue: Catalogue, epoch: number) {
    this.#epoch = epoch;
    this.reload(catalogue);
  }

  /** From now on all that is told goes there too; what was told before is in {@link snapshot}. */
  feedTo(feed: PriceFeed): void {
    this.#feed = feed;
  }

  /** Assets that have a live price. */
  get liveCount(): number {
    let count = 0;
    for (const { price } of this.#live.values()) if (price !== undefined) count++;
    return count;
  }

  isLive({ index }: Asset): boolean {
    return this.#live.get(index)?.price !== undefined;
  }

  snapshot(): Snapshot {
    const live = [...this.#live.values()].map(({ asset, price, holding }) => {
      const { id, symbol, signatureType } = this.#catalogue.assets[asset.index]!;
      return { streamingId: id, symbol, signatureType, price, holding };
    });
    return { epoch: this.#epoch, sequence: this.#sequence, live };
  }

  /** Puts a changed catalogue in force. Assets that it removed are found by their name until their price has ended. */
  reload(catalogue: Catalogue): void {
    this.#catalogue = catalogue;
    this.#assetByName = new AssetMap(catalogue.assets);
    this.#assetById = new Map(catalogue.listed.map((asset) => [asset.id, asset]));
  }

  priced(message: Priced): void {
    const { streamingId, price } = message;
    const asset = this.#assetById.get(streamingId);
    if (asset !== undefined) this.#setPrice(asset, price);
    // Several times as fast as copying the message with what it has.
    this.#feed?.priced({ epoch: this.#epoch, sequence: ++this.#sequence, streamingId, price });
  }

  /** The store has a new record. */
  recorded({ symbol, signatureType, holding }: Recorded): void {
    const asset = this.#assetByName.find(symbol, signatureType);
    if (asset !== undefined) this.#setHolding(asset, holding.state === 'priced' ? holding : undefined);
    this.#feed?.recorded({ ...this.#next(), symbol, signatureType, holding });
  }

  /**
   * Serves no more the aggregates that are too old, where nobody says so.
   * @param which while there is a leader, an asset that has a price may have newer inputs than its aggregate
   * @param untilNs one that was signed later is not looked at: to read it takes time
   */
  withdraw(
    which: 'all' | 'without a price',
    untilNs: TimeNs,
    isOver: (asset: Asset, aggregate: SignedAggregate) => boolean,
  ): void {
    for (const { asset, price, holding } of this.#live.values()) {
      if (holding === undefined || holding.timeNs > untilNs) continue;
      if (which === 'without a price' && price !== undefined) continue;
      if (holding.aggregate === undefined || !isOver(asset, holding.aggregate)) continue;
      this.#setHolding(asset, undefined);
      const { symbol, signatureType } = asset;
      this.#feed?.withdrawn({ ...this.#next(), symbol, signatureType });
    }
  }

  ended(message: Ended): void {
    const asset = this.#assetByName.find(message.symbol, message.signatureType);
    if (asset !== undefined) this.#setPrice(asset, undefined);
    this.#feed?.ended({ ...this.#next(), ...message });
  }

  #setPrice(asset: Asset, price: Price | undefined): void {
    const live = this.#liveOf(asset);
    live.price = price;
    this.#forgetEmpty(live);
  }

  #setHolding(asset: Asset, holding: Holding | undefined): void {
    const live = this.#liveOf(asset);
    live.holding = holding;
    this.#forgetEmpty(live);
  }

  #liveOf(asset: Asset): FedAsset {
    let live = this.#live.get(asset.index);
    if (live === undefined) {
      live = { asset, price: undefined, holding: undefined };
      this.#live.set(asset.index, live);
    }
    return live;
  }

  #forgetEmpty({ asset, price, holding }: FedAsset): void {
    if (price === undefined && holding === undefined) this.#live.delete(asset.index);
  }

  #next(): FeedPosition {
    return { epoch: this.#epoch, sequence: ++this.#sequence };
  }
}
