import { type Asset, type ListedPublisher, PERCENT_SCALE } from '../../model/asset.js';
import type { Price } from '../../model/price.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { KeptInput, PublisherPrice } from '../../model/signed_price.js';
import type { TimeNs } from '../../model/time.js';
import { ALGORITHMS, medianPrice, type WeightedPrice } from '../../wire/algorithms.js';
import { inputQuality } from './input_quality.js';
import { StandingPrices } from './standing_prices.js';

/**
 * The latest input of every publisher of one asset, and the aggregate of the inputs that count. An input counts under three
 * conditions: its age is at most `max_age`, its time is not too far ahead of the clock, and its distance from the median is at most
 * `max_deviation_percent`. With `frozen_after`, the input of a publisher whose price stands still does not count either.
 *
 * The book keeps its inputs in ascending order of price, so the inputs within the deviation are neighbours, and the median is among
 * these inputs. An update moves one input, by a search and a short shift. The cost of a move does not depend on the number of
 * assets.
 */
export class AssetBook<Input extends KeptInput = KeptInput> {
  /** The entries, ascending by price. */
  readonly #entries: BookEntry<Input>[] = [];
  /** The entries of frozen publishers. These entries do not count. */
  readonly #frozen: BookEntry<Input>[] = [];
  readonly #standing = new StandingPrices();
  /** The time of the oldest input, or an earlier time; `undefined` without inputs. A search for the exact time at each update is too slow. */
  #oldestNs: bigint | undefined;
  /** The time of the newest input, or a later time; 0 without inputs. */
  #newestNs = 0n;
  #from = 0;
  #to = 0;
  #price: Price | undefined;

  #asset: Asset;
  readonly #maxFutureNs: bigint;

  /** @param maxFutureNs the largest amount by which an input's time may be ahead of the clock */
  constructor(asset: Asset, maxFutureNs: bigint) {
    this.#asset = asset;
    this.#maxFutureNs = maxFutureNs;
  }

  get asset(): Asset {
    return this.#asset;
  }

  /**
   * The aggregate of the inputs that counted after the last change; `undefined` if fewer than `min_publishers` inputs counted.
   */
  get price(): Price | undefined {
    return this.#price;
  }

  /** Computes the quality of the inputs that count. Only for a book with a price. */
  quality(): LivePrice['quality'] {
    return inputQuality(this.#entries, this.#from, this.#to);
  }

  /**
   * The time, in ns, at which the oldest input becomes older than `max_age`, or an earlier time; `undefined` without inputs. {@link expire}
   * makes the time exact.
   */
  get expiresAtNs(): bigint | undefined {
    return this.#oldestNs === undefined ? undefined : this.#oldestNs + this.#asset.maxAgeNs + 1n;
  }

  /**
   * All inputs of the book. The list includes inputs that do not count, and inputs that have become too old since the last
   * change.
   */
  get inputs(): readonly { readonly publisher: ListedPublisher; readonly input: Input }[] {
    return [...this.#entries, ...this.#frozen];
  }

  /** The number of inputs in the book, including the inputs that do not count. */
  get size(): number {
    return this.#entries.length + this.#frozen.length;
  }

  /** The publishers whose prices stand still. Their inputs do not count. */
  get frozen(): readonly ListedPublisher[] {
    return this.#frozen.map(({ publisher }) => publisher);
  }

  /** The number of inputs that count, even if this number is too small for a price. */
  get counting(): number {
    return this.#to - this.#from;
  }

  /** Puts the publisher's input into the book. The input replaces the publisher's earlier input. */
  put(publisher: ListedPublisher, input: Input, nowNs: TimeNs): void {
    const { price, timestampNs } = input;
    const rule = this.#asset.frozen;
    if (rule !== undefined) {
      const isFrozen = this.#standing.record(publisher.index, price, nowNs, rule);
      removeOf(this.#frozen, publisher);
      if (isFrozen) {
        removeOf(this.#entries, publisher);
        this.#frozen.push({ publisher, input, price, timestampNs, weight: publisher.weight });
        this.#refresh(nowNs);
        return;
      }
    }
    const entries = this.#entries;
    let at = placeOf(entries, publisher);
    let entry = entries[at];
    if (entry === undefined) entry = { publisher, input, price, timestampNs, weight: publisher.weight };
    else {
      entry.publisher = publisher;
      entry.input = input;
      entry.price = price;
      entry.timestampNs = timestampNs;
      entry.weight = publisher.weight;
    }
    for (; at > 0 && entries[at - 1]!.price > price; at--) entries[at] = entries[at - 1]!;
    for (; at + 1 < entries.length && entries[at + 1]!.price <= price; at++) entries[at] = entries[at + 1]!;
    entries[at] = entry;
    if (timestampNs > this.#newestNs) this.#newestNs = timestampNs;
    if (this.#oldestNs === undefined || timestampNs < this.#oldestNs) this.#oldestNs = timestampNs;
    if (this.#frozen.length === 0 && this.#allCount(nowNs)) this.#aggregate();
    else this.#refresh(nowNs);
  }

  /**
   * Applies a changed configuration.
   * @param current returns the publisher with its current configuration, or `undefined` when the publisher's input must be
   * removed
   */
  reload(
    asset: Asset,
    current: (publisher: ListedPublisher) => ListedPublisher | undefined,
    nowNs: TimeNs,
  ): void {
    this.#asset = asset;
    for (const list of [this.#entries, this.#frozen])
      for (const entry of list.splice(0)) {
        const publisher = current(entry.publisher);
        if (publisher) list.push({ ...entry, publisher, weight: publisher.weight });
      }
    const inputs = this.inputs;
    this.#standing.keep((index) => inputs.some(({ publisher }) => publisher.index === index));
    if (asset.frozen === undefined)
      for (const { publisher, input } of this.#frozen.splice(0)) this.put(publisher, input, nowNs);
    this.#refresh(nowNs);
  }

  /**
   * Removes the inputs that are older than `max_age`. Also removes inputs that are too far ahead of the clock, after a step back of the
   * clock.
   */
  expire(nowNs: TimeNs): void {
    this.#refresh(nowNs);
  }

  /** Returns the inputs that make up {@link price}, in ascending order of the publisher key as a number. */
  counted(): PublisherPrice[] {
    return this.#entries
      .slice(this.#from, this.#to)
      .sort((a, b) => a.publisher.key.compare(b.publisher.key))
      .map(({ input }) => input.take());
  }

  #refresh(nowNs: TimeNs): void {
    const oldestCountingNs = nowNs - this.#asset.maxAgeNs;
    const latestCountingNs = nowNs + this.#maxFutureNs;
    let oldestNs: bigint | undefined;
    let newestNs = 0n;
    let kept = 0;
    for (const entry of this.#entries) {
      const { timestampNs } = entry;
      if (timestampNs < oldestCountingNs || timestampNs > latestCountingNs) continue;
      if (oldestNs === undefined || timestampNs < oldestNs) oldestNs = timestampNs;
      if (timestampNs > newestNs) newestNs = timestampNs;
      this.#entries[kept++] = entry;
    }
    this.#entries.length = kept;
    for (const { publisher, timestampNs } of this.#frozen.slice())
      if (timestampNs < oldestCountingNs || timestampNs > latestCountingNs) removeOf(this.#frozen, publisher);
    this.#oldestNs = oldestNs;
    this.#newestNs = newestNs;
    this.#aggregate();
  }

  /** Returns whether {@link expiresAtNs} is so near that it should be made exact. */
  isDue(nowNs: TimeNs): boolean {
    return this.#oldestNs !== undefined && 2n * (nowNs - this.#oldestNs) > this.#asset.maxAgeNs;
  }

  /** Returns whether the times of all inputs are within the limits now. */
  #allCount(nowNs: TimeNs): boolean {
    return this.#oldestNs! >= nowNs - this.#asset.maxAgeNs && this.#newestNs <= nowNs + this.#maxFutureNs;
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
        : (ALGORITHMS[aggregation].compute(entries, this.#from, this.#to) as Price);
  }
}

/** The input of one publisher. The entry stays while the publisher's inputs change. */
interface BookEntry<Input> {
  publisher: ListedPublisher;
  input: Input;
  price: Price;
  timestampNs: TimeNs;
  weight: bigint;
}

/** Returns the index of the publisher's entry, or the number of entries if the publisher has none. */
function placeOf(
  entries: readonly { readonly publisher: ListedPublisher }[],
  { index }: ListedPublisher,
): number {
  let at = 0;
  while (at < entries.length && entries[at]!.publisher.index !== index) at++;
  return at;
}

function removeOf(entries: { readonly publisher: ListedPublisher }[], publisher: ListedPublisher): void {
  const at = placeOf(entries, publisher);
  if (at < entries.length) entries.splice(at, 1);
}

const HUNDRED_PERCENT = 100n * BigInt(PERCENT_SCALE);

function isFurther(entry: WeightedPrice | undefined, median: bigint, distanceMax: bigint): boolean {
  if (entry === undefined) return false;
  const distance = entry.price > median ? entry.price - median : median - entry.price;
  return distance * HUNDRED_PERCENT > distanceMax;
}
