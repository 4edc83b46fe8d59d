import type { Asset } from '../../model/asset.js';
import type { Ended, Priced } from '../../model/price_sink.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { SignedAggregate } from '../../model/signed_price.js';
import type { TimeNs } from '../../model/time.js';
import type { Holding } from '../records/holding.js';
import type { Feed, FeedPosition, Recorded, Snapshot } from './feed.js';

/** The messages about prices and aggregates for the edges. */
type PriceFeed = Pick<Feed, 'priced' | 'recorded' | 'withdrawn' | 'ended'>;

/** An asset, with the configuration of the asset at its last message. */
interface ToldAsset {
  asset: Asset;
  live: LivePrice | undefined;
  holding: Holding | undefined;
}

/** Reports each change of a price and each new record to the edges of this process. Can also return the state of all live assets. */
export class FeedSource {
  readonly #epoch: number;
  #sequence = 0;
  #feed: PriceFeed | undefined;
  /** The live assets by asset index. */
  readonly #live = new Map<number, ToldAsset>();

  /** @param epoch must be greater than the epochs of all earlier starts */
  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  /** Sends all further messages to this feed. {@link snapshot} contains the effect of earlier messages. */
  feedTo(feed: PriceFeed): void {
    this.#feed = feed;
  }

  /** The number of assets that have a live price. */
  get liveCount(): number {
    let count = 0;
    for (const { live } of this.#live.values()) if (live !== undefined) count++;
    return count;
  }

  isLive({ index }: Asset): boolean {
    return this.#live.get(index)?.live !== undefined;
  }

  snapshot(): Snapshot {
    const live = [...this.#live.values()].map((told) => ({ ...told }));
    return { epoch: this.#epoch, sequence: this.#sequence, live };
  }

  priced(message: Priced): void {
    const { asset, price, quality } = message;
    this.#liveOf(asset).live = message;
    // The object lists its fields one by one, because a spread of the message takes several times as long.
    this.#feed?.priced({ epoch: this.#epoch, sequence: ++this.#sequence, asset, price, quality });
  }

  /** Reports a new record of the store. */
  recorded({ asset, holding }: Recorded): void {
    if (asset.index !== undefined) this.#setHolding(asset, holding.state === 'priced' ? holding : undefined);
    this.#feed?.recorded({ ...this.#next(), asset, holding });
  }

  /**
   * Stops serving aggregates that are too old, while there is no leader to end them or newer ones cannot be signed.
   * @param which `without a price` excludes assets that have a price: while there is a leader, such an asset may have newer inputs than
   * its aggregate
   * @param untilNs the method skips aggregates that were signed after this time, because reading an aggregate takes time
   */
  withdraw(
    which: 'all' | 'without a price',
    untilNs: TimeNs,
    isOver: (asset: Asset, aggregate: SignedAggregate) => boolean,
  ): void {
    for (const { asset, live, holding } of this.#live.values()) {
      if (holding === undefined || holding.timeNs > untilNs) continue;
      if (which === 'without a price' && live !== undefined) continue;
      if (holding.aggregate === undefined || !isOver(asset, holding.aggregate)) continue;
      this.#setHolding(asset, undefined);
      this.#feed?.withdrawn({ ...this.#next(), asset });
    }
  }

  ended({ asset, atNs }: Ended): void {
    const told = this.#liveOf(asset);
    told.live = undefined;
    this.#forgetEmpty(told);
    this.#feed?.ended({ ...this.#next(), asset, atNs });
  }

  #setHolding(asset: Asset, holding: Holding | undefined): void {
    const told = this.#liveOf(asset);
    told.holding = holding;
    this.#forgetEmpty(told);
  }

  #liveOf(asset: Asset): ToldAsset {
    let told = this.#live.get(asset.index);
    if (told === undefined) {
      told = { asset, live: undefined, holding: undefined };
      this.#live.set(asset.index, told);
    } else told.asset = asset;
    return told;
  }

  #forgetEmpty({ asset, live, holding }: ToldAsset): void {
    if (live === undefined && holding === undefined) this.#live.delete(asset.index);
  }

  #next(): FeedPosition {
    return { epoch: this.#epoch, sequence: ++this.#sequence };
  }
}
