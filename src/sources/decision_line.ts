import { formatDecimalPrice } from '../client/verify/decimal_price.js';
import { NS_PER_MS } from '../model/time.js';
import type { Decision, MarketReading } from './decision.js';

/** The reason for writing a decision: its interval has ended, the price has moved, or there is now no price. */
export type DecisionTrigger = 'clock' | 'delta' | 'withheld';

/**
 * Writes a decision as a line of JSON. `tickseal publish` reads `asset`, `price`, `timestamp` and `trigger` from the line. All prices are
 * exact decimals, and times are nanoseconds as text.
 * @param unsaid the number of unwritten decisions without a price, for the same reason
 */
export function decisionLine(decision: Decision, trigger: DecisionTrigger, unsaid: number): string {
  const { asset, atNs, price, withheld, readings } = decision;
  return JSON.stringify({
    asset: asset.symbol,
    price: price === undefined ? null : formatDecimalPrice(price),
    timestamp: String(atNs),
    trigger,
    ...(withheld === undefined ? {} : { withheld }),
    ...(unsaid === 0 ? {} : { unsaid }),
    ...(asset.isPublished ? {} : { publish: false }),
    sources: readings.map(readingFields),
  });
}

function readingFields({ input, quote, rate, price, verdict }: MarketReading): object {
  return {
    source: input.source,
    symbol: input.symbol,
    ...(quote === undefined
      ? {}
      : {
          ...(quote.trade === undefined
            ? { bid: formatDecimalPrice(quote.bid), ask: formatDecimalPrice(quote.ask) }
            : { last_trade: formatDecimalPrice(quote.trade) }),
          time: String(quote.timeNs),
          ...(quote.offsetNs === undefined ? {} : { clock_offset_ms: Number(quote.offsetNs / NS_PER_MS) }),
        }),
    ...(input.conversion === undefined
      ? {}
      : {
          conversion: {
            asset: input.conversion,
            price: rate === undefined ? null : formatDecimalPrice(rate),
          },
        }),
    ...(price === undefined ? {} : { price: formatDecimalPrice(price) }),
    verdict,
  };
}
