import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { parseDigits } from './digits.js';
import type { OwnTime } from './market_time.js';

/** The best prices in a market's frame. A missing or empty side, or a price of 0, means that the book has no such order. */
export interface MarketQuote {
  /** The symbol as the file of sources writes it. */
  readonly symbol: string;
  readonly bid?: string | undefined;
  readonly ask?: string | undefined;
  /** The last trade; only for a market without a book. */
  readonly trade?: string | undefined;
  /** The time that the market gives. */
  readonly atNs?: OwnTime;
  /** True if the exchange sends this quote again without a change: it shows that the connection lives, but not that the engine runs. */
  readonly isRepeated?: boolean | undefined;
}

/** The best prices times 10^18. */
export interface Top {
  /** 0 for a side without orders. */
  readonly bid: bigint;
  readonly ask: bigint;
  /** The last trade; only for a market without a book. */
  readonly trade: bigint | undefined;
}

/** A symbol's newest quote at one source. All times but the market's own are those of a clock that never goes back. */
export interface HeldQuote extends Top {
  /** The time of receipt minus the lag: how old the quote was when it came. */
  readonly timeNs: TimeNs;
  readonly receivedNs: TimeNs;
  /** The newest time that the market gave; `undefined` before a quote with a time. */
  readonly ownNs: bigint | undefined;
  /** True if the market's time could not be read, so that the quote is no price. */
  readonly isTimeless: boolean;
  /** The market's clock minus the clock of this host, if it is known. */
  readonly offsetNs: bigint | undefined;
  /** The last sign that the exchange's engine runs; `undefined` for a market of which none is asked. */
  readonly provenNs: TimeNs | undefined;
  /** The last change of the best prices. */
  readonly movedNs: TimeNs;
}

/** The smallest distance between two clocks that is named. */
const NAMED_OFFSET_NS = NS_PER_SECOND;

/** Returns whether the market's clock is so far off that it must be named. */
export function isOffsetNamed({ offsetNs }: HeldQuote): boolean {
  return offsetNs !== undefined && (offsetNs >= NAMED_OFFSET_NS || offsetNs <= -NAMED_OFFSET_NS);
}

/** Reads a quote's digits. */
export function topOf({ bid = '', ask = '', trade }: MarketQuote): Top {
  const hasBook = bid !== '' || ask !== '';
  return {
    bid: parseDigits(bid) ?? 0n,
    ask: parseDigits(ask) ?? 0n,
    trade: hasBook || trade === undefined ? undefined : (parseDigits(trade) ?? 0n),
  };
}

/** Returns whether two quotes have the same best prices. */
export function isSameTop(one: Top, other: Top): boolean {
  return one.bid === other.bid && one.ask === other.ask && one.trade === other.trade;
}
