import type { AssetName } from '../../model/asset_map.js';
import { DAY_S, intervalAt, isWholeQuarters, MINUTE_S } from '../../wire/resolution.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { CandleValues } from '../records/candle.js';
import type { CandleFiles, Days, OnCandle } from './candle_files.js';
import { type CandleColumns, CandleFold } from './candle_fold.js';
import { candleFolderName, MINUTES_PER_QUARTER, perDay } from './candle_rows.js';

const QUARTER_S = MINUTES_PER_QUARTER * MINUTE_S;
const MINUTES_PER_DAY = perDay('minute');
/** The largest number of days by which the interval that contains a day begins before the day. */
const INTERVAL_DAYS_MAX = 40;

export interface HistoryQuery {
  readonly resolution: Resolution;
  readonly fromS: number;
  readonly toS: number;
  readonly candlesMax: number;
}

/** The candles of an asset in memory. They replace the candles of the files. */
export interface CandlesInMemory {
  /** The closed minutes that the files may lack, by their number since 1970. */
  readonly closed: ReadonlyMap<number, CandleValues>;
  readonly running: (CandleValues & { readonly minute: number }) | undefined;
}

/** Reads the candles of assets from the files and from memory. */
export class CandleReader {
  readonly #files: CandleFiles;
  readonly #inMemory: (asset: AssetName) => CandlesInMemory;
  /** The first day with candles on disk, by asset. */
  readonly #firstDays = new Map<string, number>();

  constructor(files: CandleFiles, inMemory: (asset: AssetName) => CandlesInMemory) {
    this.#files = files;
    this.#inMemory = inMemory;
  }

  /**
   * Returns the candles of an asset that start in `fromS` <= t < `toS`. Each candle is whole, even at the ends of the range. The result
   * leaves out empty intervals and includes the running candle. Candles of every resolution are merged from the same minutes.
   * @returns `too many` when there are more than `candlesMax`
   */
  history(
    asset: AssetName,
    { resolution, fromS, toS, candlesMax }: HistoryQuery,
  ): CandleColumns | 'too many' {
    const candles: CandleColumns = { t: [], o: [], h: [], l: [], c: [] };
    const days = this.candleDays(asset);
    if (days.first >= days.end || fromS >= toS) return candles;
    const { running } = this.#inMemory(asset);
    const firstS = days.first * DAY_S;
    const lastS = running ? running.minute * MINUTE_S : days.end * DAY_S - MINUTE_S;
    if (toS <= intervalAt(resolution, firstS).startS || fromS > lastS) return candles;

    const atFrom = intervalAt(resolution, Math.max(fromS, firstS - INTERVAL_DAYS_MAX * DAY_S));
    const startS = atFrom.startS < fromS ? atFrom.endS : atFrom.startS;
    const endS = Math.min(intervalAt(resolution, Math.min(toS - 1, lastS)).endS, lastS + MINUTE_S);
    const fold = new CandleFold(candles, resolution, startS, endS);
    let minute = Math.max(startS, firstS) / MINUTE_S;
    if (isWholeQuarters(resolution)) {
      const quarter = Math.max(minute / MINUTES_PER_QUARTER, this.#endOfQuarters(asset, endS / QUARTER_S));
      this.#files.read(
        asset,
        'quarter',
        minute / MINUTES_PER_QUARTER,
        quarter,
        (number, open, high, low, close) => fold.add(number * QUARTER_S, open, high, low, close),
      );
      minute = quarter * MINUTES_PER_QUARTER;
    }
    for (; minute * MINUTE_S < endS && candles.t.length <= candlesMax; minute += MINUTES_PER_DAY) {
      const end = Math.min(minute + MINUTES_PER_DAY, endS / MINUTE_S);
      this.minutes(asset, minute, end, (number, open, high, low, close) =>
        fold.add(number * MINUTE_S, open, high, low, close),
      );
    }
    return candles.t.length > candlesMax ? 'too many' : candles;
  }

  /** Reads the minutes from number `first` up to, but not including, number `end`, ascending. */
  minutes(asset: AssetName, first: number, end: number, onCandle: OnCandle): void {
    const { closed, running } = this.#inMemory(asset);
    const inMemory = [...closed].filter(
      ([minute]) => minute >= first && minute < end && minute !== running?.minute,
    );
    if (running !== undefined && running.minute >= first && running.minute < end)
      inMemory.push([running.minute, running]);
    inMemory.sort(([a], [b]) => a - b);
    let next = 0;
    const takeUntil = (number: number) => {
      for (; next < inMemory.length && inMemory[next]![0] <= number; next++) {
        const [minute, { open, high, low, close }] = inMemory[next]!;
        onCandle(minute, open, high, low, close, 1);
      }
      return next > 0 && inMemory[next - 1]![0] === number;
    };
    this.#files.read(asset, 'minute', first, end, (number, open, high, low, close) => {
      if (!takeUntil(number)) onCandle(number, open, high, low, close, 1);
    });
    takeUntil(end);
  }

  /** Returns the days that may have candles. */
  candleDays(asset: AssetName): Days {
    const { closed, running } = this.#inMemory(asset);
    const key = candleFolderName(asset);
    let first = this.#firstDays.get(key);
    let end: number | undefined;
    if (first === undefined || running === undefined) {
      const onDisk = this.#files.days(asset);
      ({ first, end } = onDisk ?? { first: undefined, end: undefined });
      if (first !== undefined) this.#firstDays.set(key, first);
    }
    const inMemory = [...closed.keys(), ...(running === undefined ? [] : [running.minute])].map(dayOfMinute);
    first = Math.min(first ?? Number.POSITIVE_INFINITY, ...inMemory);
    end = Math.max(end ?? 0, ...inMemory.map((day) => day + 1));
    // Other nodes may have sent later candles than the running one; they are not shown yet.
    if (running !== undefined) end = dayOfMinute(running.minute) + 1;
    return end === 0 ? { first: 0, end: 0 } : { first, end };
  }

  /** Returns the days whose candles no longer change. */
  sealedDays(asset: AssetName): Days {
    const { first, end } = this.candleDays(asset);
    const { running } = this.#inMemory(asset);
    return { first, end: running === undefined ? end : Math.max(first, dayOfMinute(running.minute)) };
  }

  /** Notes that the files have changed in another way than by the minutes that close. */
  changed(): void {
    this.#firstDays.clear();
  }

  /** Returns the first quarter hour up to `end` that has minutes in memory. */
  #endOfQuarters(asset: AssetName, end: number): number {
    const { closed, running } = this.#inMemory(asset);
    const first = Math.min(running?.minute ?? Number.POSITIVE_INFINITY, ...closed.keys());
    return Math.floor(Math.min(first / MINUTES_PER_QUARTER, end));
  }
}

export function dayOfMinute(minute: number): number {
  return Math.floor(minute / MINUTES_PER_DAY);
}
