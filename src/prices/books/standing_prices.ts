import type { FrozenRule, PublisherIndex } from '../../model/asset.js';
import type { Price } from '../../model/price.js';
import type { TimeNs } from '../../model/time.js';

/** The number of other publishers whose prices must move. One other publisher could move the price alone. */
const OTHERS_MIN = 2;
const MILLION = 1_000_000n;

/** The last move of a publisher's price. */
interface LastMove {
  /** The price after the move. Smaller changes add up from this price. */
  price: Price;
  /** The time at which the service received the move. Before the first move, the time of the first price. */
  atNs: TimeNs;
  hasMoved: boolean;
  isFrozen: boolean;
}

/** Finds the publishers of one asset that sign the same price again and again while the prices of others move. */
export class StandingPrices {
  readonly #moves = new Map<PublisherIndex, LastMove>();

  /**
   * Records a publisher's new input.
   * @returns true when the publisher is frozen: its price has not moved for the time of the rule, while the prices of two others have. A frozen
   * publisher stays frozen until its price moves
   */
  record(publisher: PublisherIndex, price: Price, nowNs: TimeNs, rule: FrozenRule): boolean {
    const last = this.#moves.get(publisher);
    if (last === undefined) {
      this.#moves.set(publisher, { price, atNs: nowNs, hasMoved: false, isFrozen: false });
      return false;
    }
    if (isMove(last.price, price, rule.ppm)) {
      last.price = price;
      last.atNs = nowNs;
      last.hasMoved = true;
      last.isFrozen = false;
    } else if (!last.isFrozen && nowNs - last.atNs > rule.afterNs)
      last.isFrozen = this.#movedSince(nowNs - rule.afterNs) >= OTHERS_MIN;
    return last.isFrozen;
  }

  /** Forgets the publishers that are not configured any more. */
  keep(isKept: (publisher: PublisherIndex) => boolean): void {
    for (const publisher of this.#moves.keys()) if (!isKept(publisher)) this.#moves.delete(publisher);
  }

  #movedSince(sinceNs: bigint): number {
    let moved = 0;
    for (const { atNs, hasMoved } of this.#moves.values()) if (hasMoved && atNs > sinceNs) moved++;
    return moved;
  }
}

function isMove(from: Price, to: Price, ppm: bigint): boolean {
  const distance = to > from ? to - from : from - to;
  return distance > 0n && distance * MILLION >= (from < 0n ? -from : from) * ppm;
}
