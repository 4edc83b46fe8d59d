import type { CandleBlock } from '../records/candle_block.js';
import { type CandleInterval, DAY_S, intervalAt, isWholeQuarters, MINUTE_S } from '../wire/resolution.js';
import type { Resolution } from '../wire/rest_values.js';
import type { OpenTables } from './open_tables.js';
import { type AssetSeries, type Days, dayOfMinute, HOURS_PER_DAY } from './series.js';

const QUARTER_S = 15 * MINUTE_S;
const HOUR_S = 3_600;

/** Candles as parallel arrays of equal length, ascending by `t`. The value of `t` is the start of the candle in UNIX seconds. */
export interface CandleColumns {
  readonly t: number[];
  readonly o: number[];
  readonly h: number[];
  readonly l: number[];
  readonly c: number[];
}

export interface HistoryQuery {
  readonly resolution: Resolution;
  readonly fromS: number;
  readonly toS: number;
  readonly candlesMax: number;
}

/**
 * Returns the candles of an asset that start in `fromS` <= t < `toS`. Each candle is whole, even at the ends of the range. The result
 * leaves out empty intervals and includes the running candle. Candles of every resolution are merged from the same minutes.
 * @returns `too many` when there are more than `candlesMax`
 */
export function readHistory(
  series: AssetSeries,
  tables: OpenTables,
  { resolution, fromS, toS, candlesMax }: HistoryQuery,
): CandleColumns | 'too many' {
  const candles: CandleColumns = { t: [], o: [], h: [], l: [], c: [] };
  const running = series.newest?.minute;
  const lastDay = lastCandleDay(series);
  if (lastDay === undefined || series.firstDay === undefined || fromS >= toS) return candles;
  const lastS = running ? running.minute * MINUTE_S : (lastDay + 1) * DAY_S - MINUTE_S;
  const firstS = series.firstDay * DAY_S;
  if (toS <= intervalAt(resolution, firstS).startS || fromS > lastS) return candles;

  const atFrom = intervalAt(resolution, Math.max(fromS, firstS - 40 * DAY_S));
  const startS = atFrom.startS < fromS ? atFrom.endS : atFrom.startS;
  const endS = intervalAt(resolution, Math.min(toS - 1, lastS)).endS;
  const fold = new Fold(candles, resolution, startS, endS);
  for (let day = Math.max(Math.floor(startS / DAY_S), series.firstDay); day <= lastDay; day++) {
    if (day * DAY_S >= endS || candles.t.length > candlesMax) break;
    if ((day !== lastDay || running === undefined) && !series.unsealedDays.includes(day)) {
      const isCoarse = isWholeQuarters(resolution);
      const block = (isCoarse ? tables.quarters : tables.days).get([series.assetKey, day]);
      fold.addBlock(block, day * DAY_S, isCoarse ? QUARTER_S : MINUTE_S);
    } else {
      for (let hour = day * HOURS_PER_DAY; hour < (day + 1) * HOURS_PER_DAY; hour++)
        fold.addBlock(minutesOf(series, hour, tables), hour * HOUR_S, MINUTE_S);
    }
  }
  if (running) fold.add(lastS, running.open, running.high, running.low, running.close);
  return candles.t.length > candlesMax ? 'too many' : candles;
}

/** Returns the days that may have candles. */
export function candleDays(series: AssetSeries): Days {
  const lastDay = lastCandleDay(series);
  if (lastDay === undefined || series.firstDay === undefined) return { first: 0, end: 0 };
  return { first: series.firstDay, end: lastDay + 1 };
}

function lastCandleDay(series: AssetSeries): number | undefined {
  const running = series.newest?.minute;
  return running ? dayOfMinute(running.minute) : lastClosedDay(series);
}

/** Returns the last day with closed minutes. If an asset has no running minute, such days may have come from another store. */
function lastClosedDay({ unsealedDays, lastSealedDay }: AssetSeries): number | undefined {
  const unsealedDay = unsealedDays.at(-1) ?? lastSealedDay;
  return unsealedDay === undefined ? undefined : Math.max(unsealedDay, lastSealedDay ?? unsealedDay);
}

/** Returns the closed minutes of an hour whose day is not sealed. */
export function minutesOf(series: AssetSeries, hour: number, tables: OpenTables): CandleBlock | undefined {
  return series.hour?.hour === hour ? series.hour.block : tables.hours.get([series.assetKey, hour]);
}

/** Merges ascending finer candles into the candles of a resolution that start in a range. */
export class Fold {
  readonly #candles: CandleColumns;
  readonly #resolution: Resolution;
  readonly #startS: number;
  readonly #endS: number;
  #interval: CandleInterval = { startS: 0, endS: 0 };

  constructor(candles: CandleColumns, resolution: Resolution, startS: number, endS: number) {
    this.#candles = candles;
    this.#resolution = resolution;
    this.#startS = startS;
    this.#endS = endS;
  }

  addBlock(block: CandleBlock | undefined, originS: number, slotS: number): void {
    if (block === undefined) return;
    const { slot, open, high, low, close, length } = block;
    for (let i = 0; i < length; i++)
      this.add(originS + slot[i]! * slotS, open[i]!, high[i]!, low[i]!, close[i]!);
  }

  add(timeS: number, open: number, high: number, low: number, close: number): void {
    if (timeS < this.#startS || timeS >= this.#endS) return;
    // While a node reads the log, the store may already have minutes from other nodes that are later than the running minute.
    if (timeS < this.#interval.startS) return;
    const { t, o, h, l, c } = this.#candles;
    if (timeS >= this.#interval.endS || t.length === 0) {
      this.#interval = intervalAt(this.#resolution, timeS);
      t.push(this.#interval.startS);
      o.push(open);
      h.push(high);
      l.push(low);
      c.push(close);
      return;
    }
    const last = t.length - 1;
    if (high > h[last]!) h[last] = high;
    if (low < l[last]!) l[last] = low;
    c[last] = close;
  }
}
