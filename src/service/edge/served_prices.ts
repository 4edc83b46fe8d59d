import { strict as assert } from 'node:assert';
import type { About, FeedPosition, Recorded, Snapshot } from '../../log/feed/feed.js';
import type { Holding, PricedHolding } from '../../log/records/holding.js';
import type { Asset, AssetIndex } from '../../model/asset.js';
import type { Priced } from '../../model/price_sink.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { AggregateStreams } from '../../stream/aggregate_streams.js';
import type { StreamEngine } from '../../stream/engine.js';
import type { PriceTable } from '../../stream/price_table.js';

export interface ServedPricesOptions {
  readonly table: PriceTable;
  readonly stream: Pick<StreamEngine, 'priceChanged'>;
  readonly aggregates: Pick<AggregateStreams, 'signed'>;
}

/**
 * The prices that an edge serves. The steps of each message:
 *
 * priced:   table → streams
 * recorded: latest → streams of aggregates
 * ended:    leaves the table and every stream of prices
 */
export class ServedPrices {
  readonly #options: ServedPricesOptions;
  /** The newest signed aggregates, by asset index; `undefined` while the asset has no signed live price. */
  readonly #latest: (PricedHolding | undefined)[] = [];
  #latestVersion = 0;
  #position: FeedPosition = { epoch: 0, sequence: 0 };

  constructor(options: ServedPricesOptions) {
    this.#options = options;
  }

  /** Returns the newest signed aggregate; `undefined` while the asset has no signed live price. */
  latest({ index }: Asset): PricedHolding | undefined {
    return this.#latest[index];
  }

  /** The number of changes to the aggregates that {@link latest} returns. */
  get latestVersion(): number {
    return this.#latestVersion;
  }

  begin({ epoch, sequence, live }: Snapshot): void {
    this.#position = { epoch, sequence };
    const { table } = this.#options;
    const named = new Set<number>();
    for (const { asset, live: told, holding } of live) {
      if (asset.index === undefined) continue;
      named.add(asset.index);
      if (told === undefined) table.clear(asset.index);
      else this.#setPrice(asset, told);
      if (holding === undefined) this.#replaceLatest(asset.index, undefined);
      else if (holding.line !== this.#latest[asset.index]?.line) this.#setLatest(asset, holding);
    }
    for (const index of [...table.live.keys(), ...this.#latest.keys()])
      if (!named.has(index)) this.#clearPrice(index);
  }

  priced({ epoch, sequence, asset, price, quality }: FeedPosition & Priced): void {
    this.#requireNext({ epoch, sequence });
    this.#setPrice(asset, { price, quality });
  }

  recorded({ epoch, sequence, asset, holding }: FeedPosition & Recorded): void {
    this.#requireNext({ epoch, sequence });
    if (asset.index !== undefined) this.#setLatest(asset, holding);
  }

  withdrawn({ epoch, sequence, asset }: FeedPosition & About): void {
    this.#requireNext({ epoch, sequence });
    if (asset.index !== undefined) this.#replaceLatest(asset.index, undefined);
  }

  ended({ epoch, sequence, asset }: FeedPosition & About): void {
    this.#requireNext({ epoch, sequence });
    if (asset.index !== undefined) this.#options.table.clear(asset.index);
  }

  #setPrice({ index }: Asset, { price, quality }: LivePrice): void {
    const { table, stream } = this.#options;
    if (table.set(index, price, quality)) stream.priceChanged(index);
  }

  #setLatest(asset: Asset, holding: Holding): void {
    this.#replaceLatest(asset.index, holding.state === 'priced' ? holding : undefined);
    if (holding.state === 'priced') this.#options.aggregates.signed(asset);
  }

  #clearPrice(index: number): void {
    this.#options.table.clear(index as AssetIndex);
    this.#replaceLatest(index, undefined);
  }

  #replaceLatest(index: number, holding: PricedHolding | undefined): void {
    this.#latest[index] = holding;
    this.#latestVersion++;
  }

  /** Checks that a message follows the last message. A feed that lost a message must begin again. */
  #requireNext({ epoch, sequence }: FeedPosition): void {
    const isNext = epoch === this.#position.epoch && sequence === this.#position.sequence + 1;
    assert(isNext || (epoch > this.#position.epoch && sequence === 1), 'a message of the feed is missing');
    this.#position = { epoch, sequence };
  }
}
