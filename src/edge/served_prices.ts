import { strict as assert } from 'node:assert';
import type { FeedPosition, Recorded, Snapshot } from '../feed/feed.js';
import type { Asset, AssetIndex } from '../model/asset.js';
import { AssetMap, type AssetName } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import type { Ended, Priced } from '../model/price_sink.js';
import type { SignedAggregate } from '../model/signed_price.js';
import type { Holding } from '../records/second_record.js';
import type { AggregateStreams } from '../stream/aggregate_streams.js';
import type { StreamEngine } from '../stream/engine.js';
import type { PriceTable } from '../stream/price_table.js';

export interface ServedPricesOptions {
  readonly catalogue: Catalogue;
  readonly table: PriceTable;
  readonly stream: Pick<StreamEngine, 'priceChanged'>;
  readonly aggregates: Pick<AggregateStreams, 'signed'>;
}

/**
 * The prices that an edge serves. The whole way of one:
 *
 *     priced:   table → streams
 *     recorded: latest → streams of aggregates
 *     ended:    leaves the table and every stream of prices
 */
export class ServedPrices {
  readonly #options: ServedPricesOptions;
  /** By asset index; `undefined` while the asset has no signed live price. */
  readonly #latest: (Holding | undefined)[] = [];
  #assetByName!: AssetMap;
  #indexByStreamingId!: ReadonlyMap<number, AssetIndex>;
  #latestVersion = 0;
  #position: FeedPosition = { epoch: 0, sequence: 0 };

  constructor(options: ServedPricesOptions) {
    this.#options = options;
    this.reload(options.catalogue);
  }

  /** The newest signed aggregate; `undefined` while the asset has no live price. */
  latest({ index }: Asset): SignedAggregate | undefined {
    return this.#latest[index]?.aggregate;
  }

  /** Counts the changes of what {@link latest} returns. */
  get latestVersion(): number {
    return this.#latestVersion;
  }

  /** Puts a changed catalogue in force; the table already has it. Assets that it removed are found by their name until their price has ended. */
  reload({ assets, listed }: Catalogue): void {
    this.#assetByName = new AssetMap(assets);
    this.#indexByStreamingId = new Map(listed.map(({ id, index }) => [id, index]));
  }

  begin({ epoch, sequence, live }: Snapshot): void {
    this.#position = { epoch, sequence };
    const { table } = this.#options;
    const told = new Set<number>();
    for (const { streamingId, price, holding, ...name } of live) {
      const asset = this.#assetByName.find(name.symbol, name.signatureType);
      if (asset === undefined) continue;
      told.add(asset.index);
      if (price === undefined) table.clear(asset.index);
      else this.#setPrice(streamingId, price);
      const known = this.#latest[asset.index]?.aggregate?.signedAtNs;
      if (holding === undefined) this.#replaceLatest(asset.index, undefined);
      else if (holding.aggregate?.signedAtNs !== known) this.#setLatest(name, holding);
    }
    for (const index of [...table.live.keys(), ...this.#latest.keys()])
      if (!told.has(index)) this.#clear(index);
  }

  priced({ epoch, sequence, streamingId, price }: FeedPosition & Priced): void {
    this.#follow({ epoch, sequence });
    this.#setPrice(streamingId, price);
  }

  recorded({ epoch, sequence, symbol, signatureType, holding }: FeedPosition & Recorded): void {
    this.#follow({ epoch, sequence });
    this.#setLatest({ symbol, signatureType }, holding);
  }

  withdrawn({ symbol, signatureType, epoch, sequence }: FeedPosition & AssetName): void {
    this.#follow({ epoch, sequence });
    const asset = this.#assetByName.find(symbol, signatureType);
    if (asset !== undefined) this.#replaceLatest(asset.index, undefined);
  }

  ended({ symbol, signatureType, epoch, sequence }: FeedPosition & Ended): void {
    this.#follow({ epoch, sequence });
    const asset = this.#assetByName.find(symbol, signatureType);
    if (asset !== undefined) this.#options.table.clear(asset.index);
  }

  #setPrice(streamingId: number, price: Priced['price']): void {
    const { table, stream } = this.#options;
    const index = this.#indexByStreamingId.get(streamingId);
    if (index !== undefined && table.set(index, price)) stream.priceChanged(index);
  }

  #setLatest({ symbol, signatureType }: AssetName, holding: Holding): void {
    const asset = this.#assetByName.find(symbol, signatureType);
    if (asset === undefined) return;
    this.#replaceLatest(asset.index, holding.state === 'priced' ? holding : undefined);
    if (holding.state === 'priced') this.#options.aggregates.signed(asset);
  }

  #clear(index: number): void {
    this.#options.table.clear(index as AssetIndex);
    this.#replaceLatest(index, undefined);
  }

  #replaceLatest(index: number, holding: Holding | undefined): void {
    this.#latest[index] = holding;
    this.#latestVersion++;
  }

  /** Who tells an edge of prices begins anew where something was lost on the way. */
  #follow({ epoch, sequence }: FeedPosition): void {
    const isNext = epoch === this.#position.epoch && sequence === this.#position.sequence + 1;
    assert(isNext || (epoch > this.#position.epoch && sequence === 1), 'a message of the feed is missing');
    this.#position = { epoch, sequence };
  }
}
