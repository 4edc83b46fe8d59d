import type { Asset } from '../model/asset.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Aggregated, Ended, Priced, PriceSink } from '../model/price_sink.js';
import type { Clock } from '../model/time.js';
import { endOf } from '../records/next_holding.js';
import type { Holding } from '../records/second_record.js';
import type { Store } from '../store/store.js';
import type { FeedSource } from './feed_source.js';

export interface RecordingSinkOptions {
  readonly clock: Clock;
  readonly store: Pick<Store, 'append' | 'ended' | 'latest'>;
  readonly source: FeedSource;
}

/** Takes what the aggregator tells: records it in the store, and has it told to the edges. */
export class RecordingSink implements PriceSink {
  readonly #options: RecordingSinkOptions;

  constructor(options: RecordingSinkOptions) {
    this.#options = options;
  }

  /**
   * Notes in the store which prices ended while no process ran, once the aggregator has told which assets still have one.
   * Their latest aggregates wait for the next ones, which are signed at once: before a crash newer ones may have been
   * served than the store holds.
   */
  restore(catalogue: Catalogue): void {
    const { store, clock, source } = this.#options;
    const nowNs = clock.nowNs();
    for (const asset of catalogue.assets) {
      if (source.isLive(asset)) continue;
      const last = store.latest(asset);
      if (last !== undefined) store.ended(asset, endOf(last, asset, nowNs));
    }
  }

  priced(message: Priced): void {
    this.#options.source.priced(message);
  }

  signed({ asset, aggregate }: Aggregated): void {
    this.#record(asset, this.#options.store.append(aggregate));
  }

  ended(message: Ended): void {
    const { source, store } = this.#options;
    source.ended(message);
    const { asset, atNs } = message;
    const holding = store.ended(asset, atNs);
    // The store may have had no aggregate that could end.
    if (holding !== undefined) this.#record(asset, holding);
  }

  #record(asset: Asset, holding: Holding): void {
    this.#options.source.recorded({ asset, holding });
  }
}
