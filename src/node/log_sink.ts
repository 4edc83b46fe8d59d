import type { Term } from '../cluster/leading/term.js';
import type { FeedSource } from '../feed/feed_source.js';
import type { Asset, AssetIndex } from '../model/asset.js';
import { AssetMap, type AssetName } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Ended, Priced, PriceSink } from '../model/price_sink.js';
import type { SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { endingOf, endOf, holdingOf } from '../records/next_holding.js';
import { type Holding, holdingBytes } from '../records/second_record.js';
import type { Store } from '../store/store.js';

export interface LogSinkOptions {
  readonly catalogue: Catalogue;
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
  #assetByName: AssetMap;
  /** By asset index: the newest holding that was appended to the log. */
  readonly #appended: (Holding | undefined)[] = [];
  #assetById: ReadonlyMap<number, Asset>;
  /** Indexes of the assets that have a live price. */
  readonly #live = new Set<AssetIndex>();

  constructor(options: LogSinkOptions) {
    this.#options = options;
    this.#assetByName = new AssetMap(options.catalogue.assets);
    this.#assetById = byId(options.catalogue);
  }

  /** Other nodes get prices by name, so the IDs of assets may change. */
  reload(catalogue: Catalogue): void {
    this.#assetByName = new AssetMap(catalogue.assets);
    this.#assetById = byId(catalogue);
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
    const asset = this.#assetById.get(message.streamingId);
    if (term.isOver || asset === undefined) return;
    this.#live.add(asset.index);
    source.priced(message);
    term.priced(asset, message.price);
  }

  signed(aggregate: SignedAggregate): void {
    const asset = this.#find(aggregate);
    if (asset !== undefined) this.#append(asset, holdingOf(aggregate, this.#newest(asset)));
  }

  ended(message: Ended): void {
    const { term, source } = this.#options;
    const asset = this.#find(message);
    if (term.isOver || asset === undefined) return;
    this.#live.delete(asset.index);
    source.ended(message);
    term.ended(asset);
    this.#append(asset, endingOf(message.atNs, this.#newest(asset)));
  }

  #find({ symbol, signatureType }: AssetName): Asset | undefined {
    return this.#assetByName.find(symbol, signatureType);
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

function byId({ listed }: Catalogue): ReadonlyMap<number, Asset> {
  return new Map(listed.map((asset) => [asset.id, asset]));
}
