import { REST_PATHS } from '../../wire/paths.js';
import { parseExactJson, type StreamClient, type TaxonomyAsset } from '../index.js';

/** The prices of an interval, as doubles. Doubles are exact enough to draw. */
export interface ChartCandle {
  /** UNIX seconds at the start of the interval. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

/** An interval without a price. The chart leaves its place empty. */
export type ChartGap = Pick<ChartCandle, 'time'>;

/** The answer of the service: a list for each column. */
export type AnswerColumns = Readonly<Record<'t' | 'o' | 'h' | 'l' | 'c', readonly unknown[]>>;

/** The lengths of candles that the page offers, with their labels. */
export const RESOLUTIONS: ReadonlyMap<string, string> = new Map([
  ['1', '1m'],
  ['2', '2m'],
  ['5', '5m'],
  ['15', '15m'],
  ['30', '30m'],
  ['60', '1h'],
  ['120', '2h'],
  ['240', '4h'],
  ['360', '6h'],
  ['720', '12h'],
  ['1D', '1D'],
  ['1W', '1W'],
  ['1M', '1M'],
]);

const MINUTE_S = 60;
export const DAY_S = 86_400;
/** The number of candles in a request. The reader sees about half of them. */
const CANDLES = 300;
/** The largest amount by which the service's clock may be ahead of this computer's clock. Candles further ahead are left out. */
const CLOCK_S = 3_600;
/** The largest number of empty places in one gap, so that a closed market does not push the candles out of view. */
const GAP_MAX = 24;

/**
 * Reads the newest candles of an asset for a chart. The history is not signed.
 * @param atNs the instant at which the chart ends, in UNIX nanoseconds; `undefined` for the present
 */
export async function readHistory(
  client: Pick<StreamClient, 'get'>,
  { symbol, signatureType }: TaxonomyAsset,
  resolution: string,
  atNs: bigint | undefined,
): Promise<readonly ChartCandle[]> {
  const endS =
    atNs === undefined ? Math.floor(Date.now() / 1_000) + CLOCK_S : Number(atNs / 1_000_000_000n) + 1;
  const query = new URLSearchParams({
    symbol,
    signature_type: signatureType,
    resolution,
    from: '0',
    to: String(endS),
    countback: String(CANDLES),
  });
  return readCandles(await client.get(`${REST_PATHS.udfHistory}?${query}`));
}

/** Reads the candles of `/udf/history`. @throws Error with the service's own reason after a refusal. */
export function readCandles(text: string): readonly ChartCandle[] {
  const answer = parseExactJson(text) as AnswerColumns & { readonly s?: unknown; readonly errmsg?: unknown };
  if (answer.s === 'no_data') return [];
  if (answer.s !== 'ok') throw new Error(String(answer.errmsg ?? 'the history has no status'));
  return candlesOf(answer);
}

/** Turns columns into candles. */
export function candlesOf({ t, o, h, l, c }: AnswerColumns): readonly ChartCandle[] {
  return t.map((time, i) => {
    const [open, high, low, close] = [o, h, l, c].map((column) => Number(column[i]));
    return { time: Number(time), open: open!, high: high!, low: low!, close: close! };
  });
}

/** Returns the end of the interval that begins at `startS`, in UNIX seconds. */
export function endOf(startS: number, resolution: string): number {
  if (resolution !== '1M')
    return startS + ({ '1D': DAY_S, '1W': 7 * DAY_S }[resolution] ?? Number(resolution) * MINUTE_S);
  const start = new Date(startS * 1_000);
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1) / 1_000;
}

/** Adds the empty intervals between candles, at most {@link GAP_MAX} for a gap. */
export function withGaps(candles: readonly ChartCandle[], resolution: string): (ChartCandle | ChartGap)[] {
  return candles.flatMap((candle, i) => {
    const gaps: ChartGap[] = [];
    let time = endOf((candles[i - 1] ?? candle).time, resolution);
    while (time < candle.time && gaps.length < GAP_MAX) {
      gaps.push({ time });
      time = endOf(time, resolution);
    }
    return [...gaps, candle];
  });
}

/**
 * Adds a price to the newest candle.
 * @returns `undefined` for a price outside its interval: the service has the candle of that price
 */
export function movedCandle(
  last: ChartCandle,
  resolution: string,
  price: number,
  atS: number,
): ChartCandle | undefined {
  if (atS < last.time || atS >= endOf(last.time, resolution)) return undefined;
  return { ...last, high: Math.max(last.high, price), low: Math.min(last.low, price), close: price };
}
