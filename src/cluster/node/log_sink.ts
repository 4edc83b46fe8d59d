import type { FeedSource } from '../../log/feed/feed_source.js';
import type { Holding } from '../../log/records/holding.js';
import { endingOf, endOf, holdingOf } from '../../log/records/next_holding.js';
import type { ShownFacts } from '../../log/records/signed_line.js';
import type { Store } from '../../log/store/store.js';
import type { AggregationType, Asset, AssetIndex } from '../../model/asset.js';
import type { Aggregated, Ended, Priced, PriceSink } from '../../model/price_sink.js';
import type { TimeNs } from '../../model/time.js';
import type { PriceLog } from './price_log.js';

export interface LogSinkOptions {
  readonly log: PriceLog;
  readonly store: Pick<Store, 'newest'>;
  readonly source: Pick<FeedSource, 'priced' | 'ended'>;
  /** Returns the facts that aggregates show. */
  readonly shown: (symbol: string, algorithm: AggregationType) => ShownFacts;
}

/**
 * Receives the results of the aggregator. Sends prices immediately to this process's readers and to the other nodes. Appends aggregates and
 * the ends of prices to the log; the node serves these records when the log applies them. Ignores all results after the end of the log's
 * term.
 */
export class LogSink implements PriceSink {
  readonly #options: LogSinkOptions;
  /** The newest holding that this sink has appended to the log, by asset index. */
  readonly #appended: (Holding | undefined)[] = [];
  /** The indexes of the assets with a live price. */
  readonly #live = new Set<AssetIndex>();

  constructor(options: LogSinkOptions) {
    this.#options = options;
  }

  /**
   * Appends the end of each price that ended while no node made prices. Called after the aggregator has reported all assets that still have
   * a price.
   *
   * The store's aggregates are not used for assets with a price, because before a crash the node may have served newer aggregates than the
   * store has. The next aggregates of these assets are signed immediately.
   */
  endOthers(assets: readonly Asset[], nowNs: TimeNs): void {
    for (const asset of assets) {
      // This check comes first, because reading an aggregate from the store takes 0.2 ms.
      if (this.#live.has(asset.index)) continue;
      const newest = this.#newest(asset);
      if (newest?.aggregate !== undefined)
        this.#append(asset, endingOf(endOf(newest.aggregate, asset, nowNs), newest));
    }
  }

  /**
   * Appends an asset's newest record again if it is from before `beforeNs`. So the log always has the asset's newest aggregate and running
   * candle, even after it has deleted the earlier record.
   */
  putAgain(asset: Asset, beforeNs: TimeNs): void {
    const newest = this.#newest(asset);
    if (newest !== undefined && newest.state !== 'gap' && newest.timeNs < beforeNs)
      this.#append(asset, newest);
  }

  priced(message: Priced): void {
    const { log, source } = this.#options;
    if (log.isOver) return;
    this.#live.add(message.asset.index);
    source.priced(message);
    log.priced(message);
  }

  signed({ asset, aggregate }: Aggregated): void {
    const shown = this.#options.shown(asset.symbol, aggregate.algorithm);
    this.#append(asset, holdingOf(aggregate, shown, this.#newest(asset)));
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
    log.append(asset, holding);
    this.#appended[asset.index] = holding;
  }
}
