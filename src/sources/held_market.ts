import type { TimeNs } from '../model/time.js';
import { ClockOffset } from './clock_offset.js';
import { type HeldQuote, isSameTop, type MarketQuote, topOf } from './market_quote.js';

/** A symbol at a source: its newest quote, and the offset of its clock. */
export class HeldMarket {
  readonly #isExchange: boolean;
  readonly #maxAgeNs: bigint;
  offset = new ClockOffset();
  quote: HeldQuote | undefined;

  /**
   * @param isExchange true for a market of a built-in exchange. Any other time is the one that the operator named, and is taken as it is
   * @param maxAgeNs the longest `max_age` of the market's assets
   */
  constructor(isExchange: boolean, maxAgeNs: bigint) {
    this.#isExchange = isExchange;
    this.#maxAgeNs = maxAgeNs;
  }

  /** Forgets the quote and the offset. */
  forget(): void {
    this.quote = undefined;
    this.offset = new ClockOffset();
  }

  /**
   * Keeps a quote, unless it is older than the one before.
   * @param shiftNs the wall clock minus the clock of `receivedNs`
   * @returns false if the quote was dropped
   */
  keep(quote: MarketQuote, receivedNs: TimeNs, shiftNs: bigint): boolean {
    const before = this.quote;
    const { atNs, isRepeated = false } = quote;
    const top = topOf(quote);
    const isSame = before !== undefined && isSameTop(before, top);
    const ownNs = atNs === 'unreadable' ? undefined : atNs;
    const newestNs = before?.ownNs;
    const isConfirmed = isRepeated && isSame;
    // An older quote is accepted after a quote that no longer counts: the market's clock may have been set back.
    const isOlder = ownNs !== undefined && newestNs !== undefined && ownNs < newestNs;
    if (isOlder && !isConfirmed && receivedNs - before!.timeNs <= this.#maxAgeNs) return false;
    const isNewer =
      !isRepeated || !isSame || (ownNs !== undefined && newestNs !== undefined && ownNs > newestNs);
    const isEcho = isSame && ownNs !== undefined && ownNs === newestNs;
    const lagNs = isConfirmed ? 0n : this.#lagOf(ownNs, receivedNs, shiftNs, isRepeated);
    this.quote = {
      ...top,
      timeNs: (receivedNs - lagNs) as TimeNs,
      receivedNs,
      ownNs: isOlder && isConfirmed ? newestNs : (ownNs ?? newestNs),
      isTimeless: atNs === 'unreadable',
      offsetNs: this.#isExchange ? negated(this.offset.leastNs) : undefined,
      provenNs: !this.#isExchange ? undefined : isNewer && !isEcho ? receivedNs : before?.provenNs,
      movedNs: isSame ? before.movedNs : receivedNs,
    };
    return true;
  }

  /** Returns how old a quote is at its receipt. */
  #lagOf(ownNs: bigint | undefined, receivedNs: TimeNs, shiftNs: bigint, isRepeated: boolean): bigint {
    if (ownNs === undefined) return 0n;
    const delayNs = receivedNs - ownNs;
    if (!this.#isExchange) return highest(delayNs, delayNs + shiftNs, 0n);
    if (!isRepeated) this.offset.add(receivedNs, delayNs);
    return highest(delayNs - (this.offset.leastNs ?? 0n), 0n);
  }
}

function negated(value: bigint | undefined): bigint | undefined {
  return value === undefined ? undefined : -value;
}

function highest(...values: readonly bigint[]): bigint {
  return values.reduce((high, value) => (value > high ? value : high));
}
