import { strict as assert } from 'node:assert';
import type { Asset, AssetIndex } from '../model/asset.js';
import { AssetMap } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Ended, FeedPosition, Priced, PriceSink, Signed } from '../model/price_sink.js';
import type { SignedAggregate } from '../model/signed_price.js';
import type { Clock, TimeNs } from '../model/time.js';
import type { Store } from '../store/store.js';
import type { AggregateStreams } from '../stream/aggregate_streams.js';
import type { StreamEngine } from '../stream/engine.js';
import type { PriceTable } from '../stream/price_table.js';

export interface PricesOptions {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly table: PriceTable;
  readonly stream: Pick<StreamEngine, 'priceChanged'>;
  readonly aggregates: Pick<AggregateStreams, 'signed'>;
  readonly store: Pick<Store, 'append' | 'ended' | 'latest' | 'recent'>;
}

/**
 * What is served of the prices. The whole way of one:
 *
 *     priced: table → streams
 *     signed: latest → store (recent seconds, candles) → streams of aggregates
 *     ended:  leaves the table, `latest` and every stream
 */
export class Prices implements PriceSink {
  readonly #options: PricesOptions;
  /** By asset index; `undefined` while the asset has no live price. */
  readonly #latest: (SignedAggregate | undefined)[] = [];
  #assets!: readonly Asset[];
  #assetByName!: AssetMap;
  #indexByStreamingId!: ReadonlyMap<number, AssetIndex>;
  #position: FeedPosition = { epoch: 0, sequence: 0 };

  constructor(options: PricesOptions) {
    this.#options = options;
    this.#index(options.catalogue);
  }

  /** The newest signed aggregate; `undefined` while the asset has no live price. */
  latest({ index }: Asset): SignedAggregate | undefined {
    return this.#latest[index];
  }

  /** The aggregate in force at the end of a UNIX second. @throws DamagedRecord */
  recent(asset: Asset, second: number): SignedAggregate | undefined {
    return this.#options.store.recent(asset, second);
  }

  /**
   * Notes in the store which prices ended while no process ran, once the aggregator has told which assets still have one.
   * `latest` waits for their next aggregates, which are signed at once: before a crash it may have served newer ones than
   * the store holds.
   */
  restore(): void {
    const { store, table, clock } = this.#options;
    const nowNs = clock.nowNs();
    for (const asset of this.#assets) {
      if (table.live[asset.index] === 1) continue;
      const last = store.latest(asset);
      if (last !== undefined) store.ended(asset, endOf(last, asset, nowNs));
    }
  }

  /** Puts a changed catalogue in force; the table already has it. */
  reload(catalogue: Catalogue): void {
    this.#index(catalogue);
  }

  priced({ streamingId, price, ...position }: Priced): void {
    this.#follow(position);
    const { table, stream } = this.#options;
    const index = this.#indexByStreamingId.get(streamingId);
    if (index !== undefined && table.set(index, price)) stream.priceChanged(index);
  }

  signed({ aggregate, ...position }: Signed): void {
    this.#follow(position);
    const asset = this.#assetByName.find(aggregate.symbol, aggregate.signatureType);
    if (asset === undefined) return;
    this.#latest[asset.index] = aggregate;
    this.#options.store.append(aggregate);
    this.#options.aggregates.signed(asset);
  }

  ended({ symbol, signatureType, atNs, ...position }: Ended): void {
    this.#follow(position);
    const asset = this.#assetByName.find(symbol, signatureType);
    if (asset === undefined) return;
    this.#options.table.clear(asset.index);
    this.#latest[asset.index] = undefined;
    this.#options.store.ended(asset, atNs);
  }

  /** In one process nothing is lost between the aggregator and here. */
  #follow({ epoch, sequence }: FeedPosition): void {
    const isNext = epoch === this.#position.epoch && sequence === this.#position.sequence + 1;
    assert(isNext || (epoch > this.#position.epoch && sequence === 1), 'a message of the feed is missing');
    this.#position = { epoch, sequence };
  }

  /** Assets that a reload removed are found by their name until their price has ended. */
  #index({ assets, listed }: Catalogue): void {
    this.#assets = assets;
    this.#assetByName = new AssetMap(assets);
    this.#indexByStreamingId = new Map(listed.map(({ id, index }) => [id, index]));
  }
}

/** When the last aggregate of a price that is over lost its inputs to `max_age`, while no process was there to see it. */
function endOf({ inputs }: SignedAggregate, { minPublishers, maxAgeNs }: Asset, nowNs: TimeNs): TimeNs {
  const newestFirst = inputs.map(({ timestampNs }) => timestampNs).sort((a, b) => (a < b ? 1 : -1));
  const lastNeeded = newestFirst[minPublishers - 1] ?? newestFirst.at(-1)!;
  const endNs = lastNeeded + maxAgeNs + 1n;
  return (endNs < nowNs ? endNs : nowNs) as TimeNs;
}
