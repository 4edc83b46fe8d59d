import type { Term } from '../cluster/leading/term.js';
import type { FeedSource } from '../feed/feed_source.js';
import type { Asset, AssetIndex } from '../model/asset.js';
import type { Aggregated, Ended, Priced, PriceSink } from '../model/price_sink.js';
import type { TimeNs } from '../model/time.js';
import { endingOf, endOf, holdingOf } from '../records/next_holding.js';
import { type Holding, holdingBytes } from '../records/second_record.js';
import type { Store } from '../store/store.js';

export interface LogSinkOptions {
  readonly term: Term;
  readonly store: Pick<Store, 'newest'>;
  readonly source: Pick<FeedSource, 'priced' | 'ended'>;
}

/**
 * Takes what the aggregator of a leader tells. Prices go to the readers of this process and of the other nodes at once; aggregates, and
 * the ends of prices, go to the log, and are served when they come back from it. When the term is over nothing goes anywhere.
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

  /** Notes which prices ended while nobody led, once the aggregator has told which assets still have one. */
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
    const { term, source } = this.#options;
    const { asset, price } = message;
    if (term.isOver) return;
    this.#live.add(asset.index);
    source.priced(message);
    term.priced(asset, price);
  }

  signed({ asset, aggregate }: Aggregated): void {
    this.#append(asset, holdingOf(aggregate, this.#newest(asset)));
  }

  ended(message: Ended): void {
    const { term, source } = this.#options;
    const { asset, atNs } = message;
    if (term.isOver) return;
    this.#live.delete(asset.index);
    source.ended(message);
    term.ended(asset);
    this.#append(asset, endingOf(atNs, this.#newest(asset)));
  }

  #newest(asset: Asset): Holding | undefined {
    return this.#appended[asset.index] ?? this.#options.store.newest(asset);
  }

  #append(asset: Asset, holding: Holding | undefined): void {
    const { term } = this.#options;
    if (holding === undefined || term.isOver) return;
    this.#appended[asset.index] = holding;
    const { symbol, signatureType } = asset;
    term.append({ symbol, signatureType, bytes: holdingBytes(holding) });
  }
}
