import { NS_PER_MS } from '../../model/time.js';
import type { AttributeValues } from '../../wire/stream_attributes.js';

/** A price and the service that sent it. */
export interface SourcedPrice {
  /** The number of the service. */
  readonly source: number;
  readonly symbol: string;
  readonly timestampNs: bigint;
  readonly price: bigint;
  readonly attributes: AttributeValues;
}

/**
 * The largest distance between the times at which two services send the same change on `real_time`. Prices that are further apart are
 * different changes.
 */
const REPEAT_NS_MAX = 500n * NS_PER_MS;
/** The number of changes that are remembered for each asset on `real_time`. */
const CHANGES_MAX = 64;

/**
 * Merges the prices of several services into a single sequence. Each price comes from the service that sends it first, no price
 * counts twice, and the times of an asset only grow.
 *
 * On a fixed channel all services send the same ticks, so the merger takes each tick once, from any service. On `real_time` each
 * service sends the same changes with its own times. There a price is a repetition if another service sent the same price
 * recently, after the last change that this service sent. A price may appear twice if the services' clocks differ by more than
 * the time between changes, but the last price is always right.
 */
export class Merger {
  readonly #intervalNs: bigint | undefined;
  readonly #services: number;
  readonly #assets = new Map<string, MergedAsset>();

  /**
   * @param intervalMs the interval of the channel; `undefined` on `real_time`
   * @param services the number of services
   */
  constructor(intervalMs: number | undefined, services = 1) {
    this.#services = services;
    this.#intervalNs = intervalMs === undefined ? undefined : BigInt(intervalMs) * NS_PER_MS;
  }

  /**
   * Returns whether {@link admit} would reject a price. Also records that the price's service sent this change, which affects
   * only later prices of the same service.
   */
  repeats(price: SourcedPrice): boolean {
    const asset = this.#assets.get(price.symbol);
    const last = asset?.changes.at(-1);
    if (asset === undefined || last === undefined) return false;
    if (price.timestampNs <= last.timestampNs) {
      this.#follow(price);
      return true;
    }
    // After the loss of a service, the other services send their current prices again, even if the prices have not changed.
    if (this.#intervalNs === undefined)
      return this.#follow(price) || (this.#services > 1 && asset.isLive && isSame(price, last));
    return (
      price.source !== last.source &&
      price.timestampNs / this.#intervalNs === last.timestampNs / this.#intervalNs
    );
  }

  /** Admits a price unless it is a repetition. @returns true if the price was admitted */
  admit(price: SourcedPrice): boolean {
    if (this.repeats(price)) return false;
    let asset = this.#assets.get(price.symbol);
    if (asset === undefined) {
      asset = { isLive: true, changes: [], dropped: 0, seen: new Map() };
      this.#assets.set(price.symbol, asset);
    }
    asset.isLive = true;
    asset.changes.push(price);
    if (asset.changes.length > (this.#intervalNs === undefined ? CHANGES_MAX : 1)) {
      asset.changes.shift();
      asset.dropped += 1;
    }
    asset.seen.set(price.source, asset.dropped + asset.changes.length);
    return true;
  }

  /** Returns the last admitted price of an asset. */
  lastPriceOf(symbol: string): bigint | undefined {
    return this.#assets.get(symbol)?.changes.at(-1)?.price;
  }

  /** Records that all services were lost. The next price of each asset counts, even if it has not changed. */
  allLost(): void {
    for (const asset of this.#assets.values()) asset.isLive = false;
  }

  /** Forgets an asset that the stream no longer wants. */
  forget(symbol: string): void {
    this.#assets.delete(symbol);
  }

  /**
   * Searches for this price among the changes that the service has not sent yet. If the price is found, the service has now
   * sent that change too.
   */
  #follow({ source, symbol, timestampNs, price, attributes }: SourcedPrice): boolean {
    const { changes, dropped, seen } = this.#assets.get(symbol)!;
    const from = Math.max((seen.get(source) ?? 0) - dropped, 0);
    for (let i = from; i < changes.length; i += 1) {
      const change = changes[i]!;
      const isNear = timestampNs - change.timestampNs <= REPEAT_NS_MAX;
      if (isNear && isSame(change, { price, attributes })) {
        seen.set(source, dropped + i + 1);
        return true;
      }
    }
    return false;
  }
}

type SentPrice = Pick<SourcedPrice, 'price' | 'attributes'>;

/** Returns true for the same price and market status. The services' own inputs may differ in age, number and spread. */
function isSame(one: SentPrice, other: SentPrice): boolean {
  return one.price === other.price && one.attributes.marketStatus === other.attributes.marketStatus;
}

interface MergedAsset {
  /** True when a price was admitted since all services were lost. */
  isLive: boolean;
  /** The newest changes, in the order of admission. */
  readonly changes: SourcedPrice[];
  /** The number of changes before {@link changes}. */
  dropped: number;
  /** For each source, the number of changes up to the last change that the source sent. */
  readonly seen: Map<number, number>;
}
