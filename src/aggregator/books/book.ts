import { type Asset, type ListedPublisher, PERCENT_SCALE } from '../../model/asset.js';
import type { Price } from '../../model/price.js';
import type { PublisherPrice } from '../../model/signed_price.js';
import type { TimeNs } from '../../model/time.js';
import { aggregatePrice, medianPrice } from './algorithms.js';

/**
 * The latest input of every publisher of one asset, and the aggregate of those that count: not older than `max_age`, not of a time
 * that the clock has yet to reach, and not further than `max_deviation_percent` from the median.
 *
 * Inputs are kept in ascending order of price, so the inputs within the deviation are neighbours, with the median among them. An
 * update moves one input: this costs a search and a short shift, whatever the number of assets.
 */
export class AssetBook {
  /** The entries, ascending by price. */
  readonly #entries: BookEntry[] = [];
  #oldestNs: bigint | undefined;
  #from = 0;
  #to = 0;
  #price: Price | undefined;

  #asset: Asset;
  readonly #maxFutureNs: bigint;

  /** @param maxFutureNs the largest distance of an input's time ahead of the clock */
  constructor(asset: Asset, maxFutureNs: bigint) {
    this.#asset = asset;
    this.#maxFutureNs = maxFutureNs;
  }

  get asset(): Asset {
    return this.#asset;
  }

  /** The aggregate of the inputs that counted after the last change; none below `min_publishers`. */
  get price(): Price | undefined {
    return this.#price;
  }

  /** The time at which the oldest input exceeds `max_age`, in ns; `undefined` without inputs. */
  get expiresAtNs(): bigint | undefined {
    return this.#oldestNs === undefined ? undefined : this.#oldestNs + this.#asset.maxAgeNs + 1n;
  }

  /** All inputs of the book: also those that do not count, and those that may have become too old since the last change. */
  get inputs(): readonly { readonly publisher: ListedPublisher; readonly input: PublisherPrice }[] {
    return this.#entries;
  }

  /** The number of all inputs of the book, also those that do not count. */
  get size(): number {
    return this.#entries.length;
  }

  /** The number of inputs that count: those of {@link price}, or of the price that there would be with enough of them. */
  get counting(): number {
    return this.#to - this.#from;
  }

  /** Replaces the publisher's earlier input. */
  put(publisher: ListedPublisher, input: PublisherPrice, nowNs: TimeNs): void {
    const { price } = input;
    const entries = this.#entries;
    const entry = { publisher, input, price, weight: publisher.weight };
    let at = this.#placeOf(publisher);
    for (; at > 0 && entries[at - 1]!.price > price; at--) entries[at] = entries[at - 1]!;
    for (; at + 1 < entries.length && entries[at + 1]!.price <= price; at++) entries[at] = entries[at + 1]!;
    entries[at] = entry;
    this.#refresh(nowNs);
  }

  /**
   * Applies a changed configuration.
   * @param current returns the publisher as it is configured now, or `undefined` when its input is to be removed
   */
  reload(
    asset: Asset,
    current: (publisher: ListedPublisher) => ListedPublisher | undefined,
    nowNs: TimeNs,
  ): void {
    this.#asset = asset;
    const entries = this.#entries.splice(0);
    for (const entry of entries) {
      const publisher = current(entry.publisher);
      if (publisher) this.#entries.push({ ...entry, publisher, weight: publisher.weight });
    }
    this.#refresh(nowNs);
  }

  /** Removes the inputs that are older than `max_age`, or of a later time than the clock may have after it was stepped back. */
  expire(nowNs: TimeNs): void {
    this.#refresh(nowNs);
  }

  /** Returns the inputs of {@link price}, ascending by publisher key as a number. */
  counted(): PublisherPrice[] {
    return this.#entries
      .slice(this.#from, this.#to)
      .sort((a, b) => a.publisher.key.compare(b.publisher.key))
      .map(({ input }) => input);
  }

  /** Returns the place of the publisher's entry; the place behind the last entry when the publisher has none. */
  #placeOf({ index }: ListedPublisher): number {
    let at = 0;
    while (at < this.#entries.length && this.#entries[at]!.publisher.index !== index) at++;
    return at;
  }

  #refresh(nowNs: TimeNs): void {
    const oldestCountingNs = nowNs - this.#asset.maxAgeNs;
    const latestCountingNs = nowNs + this.#maxFutureNs;
    let oldestNs: bigint | undefined;
    let kept = 0;
    for (const entry of this.#entries) {
      const { timestampNs } = entry.input;
      if (timestampNs < oldestCountingNs || timestampNs > latestCountingNs) continue;
      if (oldestNs === undefined || timestampNs < oldestNs) oldestNs = timestampNs;
      this.#entries[kept++] = entry;
    }
    this.#entries.length = kept;
    this.#oldestNs = oldestNs;
    this.#aggregate();
  }

  #aggregate(): void {
    const { maxDeviation, minPublishers, aggregation } = this.#asset;
    const entries = this.#entries;
    this.#from = 0;
    this.#to = entries.length;
    if (maxDeviation !== undefined && entries.length > 0) {
      const median = medianPrice(entries, 0, entries.length);
      const distanceMax = maxDeviation * (median < 0n ? -median : median);
      while (isFurther(entries[this.#from], median, distanceMax)) this.#from++;
      while (isFurther(entries[this.#to - 1], median, distanceMax) && this.#to > this.#from) this.#to--;
    }
    const counted = this.#to - this.#from;
    this.#price =
      counted === 0 || counted < minPublishers
        ? undefined
        : aggregatePrice(aggregation, entries, this.#from, this.#to);
  }
}

interface BookEntry {
  readonly publisher: ListedPublisher;
  readonly input: PublisherPrice;
  readonly price: Price;
  readonly weight: bigint;
}

const HUNDRED_PERCENT = 100n * BigInt(PERCENT_SCALE);

function isFurther(entry: BookEntry | undefined, median: Price, distanceMax: bigint): boolean {
  if (entry === undefined) return false;
  const distance = entry.price > median ? entry.price - median : median - entry.price;
  return distance * HUNDRED_PERCENT > distanceMax;
}
