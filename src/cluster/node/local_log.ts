import type { FeedSource } from '../../log/feed/feed_source.js';
import type { Holding } from '../../log/records/holding.js';
import type { LatestInput } from '../../log/records/latest_input.js';
import type { Store } from '../../log/store/store.js';
import type { StoredInput } from '../../log/store/store_options.js';
import type { Asset } from '../../model/asset.js';
import type { PriceLog } from './price_log.js';
import type { OpenLog } from './public_log.js';

export interface LocalLogOptions {
  readonly store: Pick<Store, 'record' | 'putInput' | 'inputs' | 'durable'>;
  /** Takes each aggregate for the public log; absent when the log is off. */
  readonly publicLog?: Pick<OpenLog, 'record'> | undefined;
  readonly source: Pick<FeedSource, 'recorded'>;
}

/** The log of a process without a cluster: its own store. A record is applied when it is appended, and encoded when the store writes it. */
export class LocalLog implements PriceLog {
  readonly #options: LocalLogOptions;
  readonly isOver = false;

  constructor(options: LocalLogOptions) {
    this.#options = options;
  }

  /** Does nothing, because there are no other nodes. */
  priced(): void {}

  ended(): void {}

  append(asset: Asset, holding: Holding): void {
    const { store, publicLog, source } = this.#options;
    store.record(asset, holding);
    publicLog?.record(holding);
    source.recorded({ asset, holding });
  }

  putInput(asset: Asset, key: Buffer, accepted: LatestInput): void {
    this.#options.store.putInput(asset, key, accepted);
  }

  inputs(): Iterable<StoredInput> {
    return this.#options.store.inputs();
  }

  durable(): Promise<void> {
    return this.#options.store.durable();
  }
}
