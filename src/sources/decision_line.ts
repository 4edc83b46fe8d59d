import { formatDecimalPrice } from '../client/verify/decimal_price.js';
import { NS_PER_MS } from '../model/time.js';
import type { Decision } from './decision.js';
import { isOffsetNamed } from './market_quote.js';
import type { MarketReading } from './market_reading.js';
import { countsText } from './votes.js';

/** The reason for writing a decision: its interval has ended, the price has moved, or there is now no price. */
export type DecisionTrigger = 'clock' | 'delta' | 'withheld';

/** The fields of a line that the decision itself does not have. */
export interface WrittenDecision {
  readonly trigger: DecisionTrigger;
  /** The number of unwritten decisions without a price, for the same reason. */
  readonly unsaid: number;
  /** The wall clock minus the clock of the decision. */
  readonly shiftNs: bigint;
}

/**
 * Writes a decision as a line of JSON. `tickseal publish` reads `asset`, `price`, `timestamp` and `trigger` from the line. All prices are
 * exact decimals, and times are nanoseconds of the wall clock as text.
 */
export function decisionLine(decision: Decision, { trigger, unsaid, shiftNs }: WrittenDecision): string {
  const { asset, atNs, price, withheld, readings } = decision;
  return JSON.stringify({
    asset: asset.symbol,
    price: price === undefined ? null : formatDecimalPrice(price),
    timestamp: String(atNs + shiftNs),
    trigger,
    ...(withheld === undefined ? {} : { withheld }),
    ...(unsaid === 0 ? {} : { unsaid }),
    ...(asset.isPublished ? {} : { publish: false }),
    used: countsText(readings),
    sources: readings.map((reading) => readingFields(reading, shiftNs)),
  });
}

function readingFields({ input, quote, rate, price, verdict }: MarketReading, shiftNs: bigint): object {
  return {
    source: input.source,
    symbol: input.symbol,
    ...(quote === undefined
      ? {}
      : {
          ...(quote.trade === undefined
            ? { bid: formatDecimalPrice(quote.bid), ask: formatDecimalPrice(quote.ask) }
            : { last_trade: formatDecimalPrice(quote.trade) }),
          time: String(quote.timeNs + shiftNs),
          ...(isOffsetNamed(quote) ? { clock_offset_ms: Number(quote.offsetNs! / NS_PER_MS) } : {}),
        }),
    ...(input.conversion === undefined
      ? {}
      : {
          conversion: {
            asset: input.conversion,
            price: rate === undefined ? null : formatDecimalPrice(rate),
            ...(input.divides ? { divides: true } : {}),
          },
        }),
    ...(price === undefined ? {} : { price: formatDecimalPrice(price) }),
    verdict,
  };
}
