import { PRICE_MAX, PRICE_MIN, PRICE_SCALE } from '../model/price.js';
import type { TimeNs } from '../model/time.js';
import type { HeldQuote } from './market_quote.js';
import { exceedsPercent } from './median.js';
import type { AssetInput, AssetPlan } from './plan.js';

/** The role of a market in a decision, or the reason why it has none. */
export type MarketVerdict =
  | 'used'
  | 'no quote'
  | 'no time'
  | 'late'
  | 'stale'
  | 'empty'
  | 'crossed'
  | 'wide'
  | 'unproven'
  | 'outlier'
  | `converted without ${string}`;

/** The state of a market in a decision. */
export interface MarketReading {
  readonly input: AssetInput;
  readonly quote: HeldQuote | undefined;
  /** The price of the asset that converts the market's price, if there was one. */
  readonly rate: bigint | undefined;
  /** The market's price after conversion. */
  readonly price: bigint | undefined;
  /** The time after which the quote is stale; `undefined` without a quote. */
  readonly freshUntilNs: bigint | undefined;
  /** The time after which the market is unproven, if other sources move; `undefined` for a market of which no proof is asked. */
  readonly provenUntilNs: bigint | undefined;
  readonly verdict: MarketVerdict;
}

/** The quotes and prices that a decision may use. */
export interface DecisionInputs {
  quoteOf(input: AssetInput): HeldQuote | undefined;
  /** Returns the price of another asset at the same instant, for conversions. */
  priceOf(symbol: string): bigint | undefined;
  /** The readings of an earlier decision about the asset, in the order of its inputs. Unchanged readings are used again. */
  readonly earlier?: readonly MarketReading[] | undefined;
}

/** The time for which a market may show the same prices without a proof, as a multiple of `max_age`. */
const UNPROVEN_AGES = 6n;
/** The verdicts that age alone cannot change. */
const AGED: ReadonlySet<MarketVerdict> = new Set(['no time', 'late', 'stale']);

/** Reads a market by itself, without the other markets of its asset. */
export function readMarket(
  asset: AssetPlan,
  input: AssetInput,
  inputs: DecisionInputs,
  earlier: MarketReading | undefined,
  nowNs: TimeNs,
): MarketReading {
  const quote = inputs.quoteOf(input);
  const conversionRate = input.conversion === undefined ? undefined : inputs.priceOf(input.conversion);
  if (
    earlier !== undefined &&
    earlier.quote === quote &&
    earlier.rate === conversionRate &&
    (quote === undefined ||
      earlier.verdict === 'no time' ||
      isOld(earlier, nowNs) === AGED.has(earlier.verdict))
  )
    return earlier;
  const rate = input.conversion === undefined ? PRICE_SCALE : conversionRate;
  const fault = quote === undefined ? 'no quote' : faultOf(quote, asset, nowNs);
  const price =
    fault === undefined && rate !== undefined ? convertedPrice(quote!, rate, input.divides) : undefined;
  const verdict =
    fault ??
    (rate === undefined ? (`converted without ${input.conversion}` as const) : undefined) ??
    (price === 0n || price! > PRICE_MAX || price! < PRICE_MIN ? 'empty' : 'used');
  return {
    input,
    quote,
    rate: conversionRate,
    price: verdict === 'used' ? price : undefined,
    freshUntilNs: quote === undefined ? undefined : quote.timeNs + asset.maxAgeNs,
    provenUntilNs:
      quote?.provenNs === undefined ? undefined : quote.provenNs + UNPROVEN_AGES * asset.maxAgeNs,
    verdict,
  };
}

/** Returns whether a reading is the same at `nowNs`, provided that its market has had no other quote and its conversion no other price. */
export function isSameReading(reading: MarketReading, nowNs: TimeNs): boolean {
  const { verdict, provenUntilNs } = reading;
  if (!AGED.has(verdict) && isOld(reading, nowNs)) return false;
  return verdict !== 'used' || provenUntilNs === undefined || nowNs <= provenUntilNs;
}

/** Marks the markets that stand still while another source moves. */
export function withUnproven(read: readonly MarketReading[], nowNs: TimeNs): readonly MarketReading[] {
  const stillOf = ({ verdict, provenUntilNs }: MarketReading) =>
    verdict === 'used' && provenUntilNs !== undefined && nowNs > provenUntilNs;
  if (!read.some(stillOf)) return read;
  const isLeft = (one: MarketReading) =>
    read.some(
      ({ input, quote, verdict }) =>
        verdict === 'used' && input.engine !== one.input.engine && quote!.movedNs > one.quote!.provenNs!,
    );
  return read.map((one) =>
    stillOf(one) && isLeft(one) ? { ...one, price: undefined, verdict: 'unproven' as const } : one,
  );
}

/** Unlike a subtraction, a comparison allocates no integer. */
function isOld({ freshUntilNs }: MarketReading, nowNs: TimeNs): boolean {
  return freshUntilNs !== undefined && nowNs > freshUntilNs;
}

function faultOf(quote: HeldQuote, { maxAgeNs, maxSpread }: AssetPlan, nowNs: TimeNs) {
  if (quote.isTimeless) return 'no time';
  if (nowNs > quote.timeNs + maxAgeNs) return quote.receivedNs - quote.timeNs > maxAgeNs ? 'late' : 'stale';
  const { bid, ask, trade } = quote;
  if (trade !== undefined) return trade === 0n ? 'empty' : undefined;
  if (bid === 0n || ask === 0n) return 'empty';
  if (bid > ask) return 'crossed';
  return exceedsPercent((ask - bid) * 2n, ask + bid, maxSpread) ? 'wide' : undefined;
}

/** Multiplies the middle of the book, or the last trade, by the rate, or divides it. Rounds only once, toward zero. */
function convertedPrice({ bid, ask, trade }: HeldQuote, rate: bigint, divides: boolean): bigint {
  const doubled = trade === undefined ? bid + ask : trade * 2n;
  if (rate === PRICE_SCALE) return doubled / 2n;
  return divides ? (doubled * PRICE_SCALE) / (rate * 2n) : (doubled * rate) / (PRICE_SCALE * 2n);
}
