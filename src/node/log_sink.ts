import type { FeedSource } from '../feed/feed_source.js';
import type { Asset, AssetIndex } from '../model/asset.js';
import type { Aggregated, Ended, Priced, PriceSink } from '../model/price_sink.js';
import type { TimeNs } from '../model/time.js';
import { endingOf, endOf, holdingOf } from '../records/next_holding.js';
import type { Holding } from '../records/second_record.js';
import type { Store } from '../store/store.js';
import type { PriceLog } from './price_log.js';

export interface LogSinkOptions {
  readonly log: PriceLog;
  readonly store: Pick<Store, 'newest'>;
  readonly source: Pick<FeedSource, 'priced' | 'ended'>;
}

/**
 * Takes what the aggregator tells. Prices go to the readers of this process and of the other nodes at once; aggregates, and the ends of
 * prices, go to the log, and are served when it applies them. When the log takes nothing any more, nothing goes anywhere.
 */
export class LogSink implements PriceSink {
  readonly #options: LogSinkOptions;
  /** By asset index: the newest holding that was appended to the log. */
  readonly #appended: (Holding | undefined)[] = [];
  /** Indexes of the assets that have a live price. */
  readonly #live = new Set<AssetIndex>();

  constructor(options: LogSinkOptions) {
    this.#options = options;
  }

  /**
   * Notes which prices ended while nobody made prices, once the aggregator has told which assets still have one. The latest
   * aggregates of the others wait for the next ones, which are signed at once: before a crash newer ones may have been served than the store
   * holds.
   */
  endOthers(assets: readonly Asset[], nowNs: TimeNs): void {
    for (const asset of assets) {
      // First, for an aggregate that was only stored takes 0.2 ms to read.
      if (this.#live.has(asset.index)) continue;
      const newest = this.#newest(asset);
      if (newest?.aggregate !== undefined)
        this.#append(asset, endingOf(endOf(newest.aggregate, asset, nowNs), newest));
    }
  }

  priced(message: Priced): void {
    const { log, source } = this.#options;
    const { asset, price } = message;
    if (log.isOver) return;
    this.#live.add(asset.index);
    source.priced(message);
    log.priced(asset, price);
  }

  signed({ asset, aggregate }: Aggregated): void {
    this.#append(asset, holdingOf(aggregate, this.#newest(asset)));
  }

  ended(message: Ended): void {
    const { log, source } = this.#options;
    const { asset, atNs } = message;
    if (log.isOver) return;
    this.#live.delete(asset.index);
    source.ended(message);
    log.ended(asset);
    this.#append(asset, endingOf(atNs, this.#newest(asset)));
  }

  #newest(asset: Asset): Holding | undefined {
    return this.#appended[asset.index] ?? this.#options.store.newest(asset);
  }

  #append(asset: Asset, holding: Holding | undefined): void {
    const { log } = this.#options;
    if (holding === undefined || log.isOver) return;
    this.#appended[asset.index] = holding;
    log.append(asset, holding);
  }
}
