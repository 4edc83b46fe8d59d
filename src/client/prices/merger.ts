import { NS_PER_MS } from '../../model/time.js';

/** A price as one service sent it. */
export interface SourcedPrice {
  /** Which service. */
  readonly source: number;
  readonly symbol: string;
  readonly timestampNs: bigint;
  readonly price: bigint;
  /** The code of the market status, where there is one. */
  readonly marketStatus: number | null | undefined;
}

/** On `real_time`, two services send one change at most this far apart; what is further apart is another change. */
const REPEAT_NS_MAX = 500n * NS_PER_MS;
/** Changes of one asset that are remembered on `real_time`. */
const CHANGES_MAX = 64;

/**
 * Makes one sequence of prices of what several services send: the first to send a price wins, none counts twice, and the times
 * of an asset only grow.
 *
 * On a fixed channel a tick of the service's clock counts once, whoever sends it. On `real_time`, where the same changes come from
 * each service with times of its own, a price repeats if the others sent it not long ago, behind what this service sent last. A price
 * may come again where clocks differ by more than changes are apart, and the last one always is the last one.
 */
export class Merger {
  readonly #intervalNs: bigint | undefined;
  readonly #assets = new Map<string, MergedAsset>();

  /** @param intervalMs of the channel; `undefined` on `real_time` */
  constructor(intervalMs: number | undefined) {
    this.#intervalNs = intervalMs === undefined ? undefined : BigInt(intervalMs) * NS_PER_MS;
  }

  /** Whether a price would be left out. What a service sends decides only about what else it sends itself. */
  repeats(price: SourcedPrice): boolean {
    const last = this.#assets.get(price.symbol)?.changes.at(-1);
    if (last === undefined) return false;
    if (price.timestampNs <= last.timestampNs) {
      this.#follow(price);
      return true;
    }
    if (this.#intervalNs === undefined) return this.#follow(price);
    return (
      price.source !== last.source &&
      price.timestampNs / this.#intervalNs === last.timestampNs / this.#intervalNs
    );
  }

  /** Takes a price that does not repeat. @returns whether it did not */
  admit(price: SourcedPrice): boolean {
    if (this.repeats(price)) return false;
    let asset = this.#assets.get(price.symbol);
    if (asset === undefined) {
      asset = { changes: [], dropped: 0, seen: new Map() };
      this.#assets.set(price.symbol, asset);
    }
    asset.changes.push(price);
    if (asset.changes.length > (this.#intervalNs === undefined ? CHANGES_MAX : 1)) {
      asset.changes.shift();
      asset.dropped += 1;
    }
    asset.seen.set(price.source, asset.dropped + asset.changes.length);
    return true;
  }

  /** Forgets assets that are not wanted any more. */
  forget(symbol: string): void {
    this.#assets.delete(symbol);
  }

  /** Finds a change behind those that the service has sent; then it has sent this one too. */
  #follow({ source, symbol, timestampNs, price, marketStatus }: SourcedPrice): boolean {
    const { changes, dropped, seen } = this.#assets.get(symbol)!;
    const from = Math.max((seen.get(source) ?? 0) - dropped, 0);
    for (let i = from; i < changes.length; i += 1) {
      const change = changes[i]!;
      const isNear = timestampNs - change.timestampNs <= REPEAT_NS_MAX;
      if (isNear && change.price === price && change.marketStatus === marketStatus) {
        seen.set(source, dropped + i + 1);
        return true;
      }
    }
    return false;
  }
}

interface MergedAsset {
  /** The newest, in the order in which they were admitted. */
  readonly changes: SourcedPrice[];
  /** How many came before {@link changes}. */
  dropped: number;
  /** Source to the number of changes up to the last one that it sent. */
  readonly seen: Map<number, number>;
}
