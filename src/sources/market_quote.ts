import type { TimeNs } from '../model/time.js';
import { parseDigits } from './digits.js';
import { quoteTime } from './market_time.js';

/** The best prices in a market's frame. A missing or empty side, or a price of 0, means that the book has no such order. */
export interface MarketQuote {
  /** The symbol as the file of sources writes it. */
  readonly symbol: string;
  readonly bid?: string | undefined;
  readonly ask?: string | undefined;
  /** The last trade; only for a market without a book. */
  readonly trade?: string | undefined;
  /** The time that the market gives, in nanoseconds. */
  readonly atNs?: bigint | undefined;
}

/** A symbol's newest quote at one source. */
export interface HeldQuote {
  /** Best prices times 10^18; 0 for a side without orders. */
  readonly bid: bigint;
  readonly ask: bigint;
  /** The last trade times 10^18; only for a market without a book. */
  readonly trade: bigint | undefined;
  readonly timeNs: TimeNs;
  readonly offsetNs: bigint | undefined;
}

/** Reads a quote's digits and chooses its time. */
export function holdQuote(quote: MarketQuote, receivedNs: TimeNs): HeldQuote {
  const { bid = '', ask = '', trade, atNs } = quote;
  const hasBook = bid !== '' || ask !== '';
  return {
    bid: parseDigits(bid) ?? 0n,
    ask: parseDigits(ask) ?? 0n,
    trade: hasBook || trade === undefined ? undefined : (parseDigits(trade) ?? 0n),
    ...quoteTime(atNs, receivedNs),
  };
}

/** Returns whether two quotes have the same best prices, even if the digits are written differently. */
export function isSameTop(one: MarketQuote, other: MarketQuote): boolean {
  return (
    parseDigits(one.bid ?? '') === parseDigits(other.bid ?? '') &&
    parseDigits(one.ask ?? '') === parseDigits(other.ask ?? '')
  );
}
