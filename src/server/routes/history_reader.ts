import type { Days } from '../../log/store/candle_files.js';
import type { CandleColumns } from '../../log/store/candle_fold.js';
import type { Asset } from '../../model/asset.js';
import { DAY_S, intervalAt } from '../../wire/resolution.js';
import type { Resolution } from '../../wire/rest_values.js';
import { openLoopTurns } from '../rest/loop_turns.js';
import type { RouteResult } from '../rest/route_result.js';
import { CandleJson, type CandleRun, sameCandles } from './candle_json.js';

/** Reads the candles that begin in `fromS` <= t < `toS`. Returns `too many` above the limit. */
export type ReadCandles = (
  asset: Asset,
  resolution: Resolution,
  fromS: number,
  toS: number,
) => CandleColumns | 'too many';

export interface HistoryReaderOptions {
  readonly readCandles: ReadCandles;
  /** Returns the days that may have candles. */
  readonly candleDays: (asset: Asset) => Days;
  /** Returns the days on which the candles of an asset no longer change. */
  readonly sealedDays: (asset: Asset) => Days;
  readonly candlesPerRequestMax: number;
}

/** The candles of a request. */
export interface WantedCandles {
  readonly asset: Asset;
  readonly resolution: Resolution;
  readonly toS: number;
}

/** Work in pieces. The owner may do other work at each `yield`. */
export type InPieces<T> = Generator<undefined, T, undefined>;
/** The result of a history route. */
export type HistoryResult = Exclude<RouteResult, { readonly later: unknown }>;

/** The resolutions whose days stay in the cache. In these resolutions, a day has many candles. */
const KEPT_MINUTES = [1, 2, 5, 15, 30, 60];
/** The number of days in a piece, for other resolutions. The store reads such a day as 96 quarter hours. */
const DAYS_PER_PIECE = 32;
/** The largest total size of the cached texts. A day of minutes has about 170,000 bytes. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;
/** The memory of a candle's numbers. */
const CANDLE_BYTES = 5 * 8;
const NO_DAYS: Days = { first: 0, end: 0 };
/**
 * The time after which a turn of the event loop starts no further piece. The longest piece, a day of minutes, takes this time.
 */
const TURN_MS = 1;

interface DayText {
  readonly text: CandleJson;
  /** The candles of a day that may still change. */
  readonly candles?: CandleColumns;
  readonly bytes: number;
}

/**
 * Reads candles as JSON, one day after the other. The reader writes a sealed day once, and caches its text until the texts of
 * other days displace it. A request that needs more than {@link TURN_MS} continues in later turns.
 */
export class HistoryReader {
  readonly #options: HistoryReaderOptions;
  /** Texts by day. The least recently used text comes first. */
  readonly #kept = new Map<string, DayText>();
  #keptBytes = 0;
  readonly #turns = openLoopTurns();
  /**
   * A promise for each caller that resolves at the end of the caller's unfinished work. Each caller has at most one unfinished answer in
   * memory.
   */
  readonly #unfinished = new Map<string, Promise<unknown>>();
  readonly #nowMs: () => number;

  constructor(options: HistoryReaderOptions, nowMs = () => performance.now()) {
    this.#options = options;
    this.#nowMs = nowMs;
  }

  /**
   * Does the work of a request now if the work is short. Otherwise continues in later turns, after the caller's earlier requests.
   */
  answer(caller: string, work: InPieces<HistoryResult>): RouteResult {
    const earlier = this.#unfinished.get(caller);
    if (earlier === undefined) {
      const first = this.#workForTurn(work);
      if (first !== undefined) return first;
    }
    const later = this.#finishInTurns(caller, work, earlier);
    const end: Promise<void> = later
      .catch(() => {})
      .then(() => {
        if (this.#unfinished.get(caller) === end) this.#unfinished.delete(caller);
      });
    this.#unfinished.set(caller, end);
    return { later };
  }

  /** Reads the candles that begin in `fromS` <= t < `toS`. */
  *range(wanted: WantedCandles, fromS: number): InPieces<readonly CandleRun[] | 'too many'> {
    const runs: CandleRun[] = [];
    let length = 0;
    for (const read of this.#pieces(wanted, fromS)) {
      const run = read();
      if (run === 'too many') return run;
      runs.push(run);
      length += run.length;
      if (length > this.#options.candlesPerRequestMax) return 'too many';
      yield;
    }
    return runs;
  }

  /**
   * Returns a function that returns true while a range has the same candles as `runs`; `undefined` if the candles may change. A day without
   * candles may still get some from another node.
   */
  sealedUntil(
    { asset, resolution, toS }: WantedCandles,
    fromS: number,
    runs: readonly CandleRun[],
  ): (() => boolean) | undefined {
    const { sealedDays } = this.#options;
    const first = Math.floor(fromS / DAY_S);
    const end = Math.ceil(toS / DAY_S);
    const isSealed = () => {
      try {
        const sealed = sealedDays(asset);
        return sealed.first <= first && end <= sealed.end;
      } catch {
        // The next request reads the candles again, and answers with the error.
        return false;
      }
    };
    const isWhole = runs.length === end - first && runs.every(({ length }) => length > 0);
    return KEPT_MINUTES.includes(Number(resolution)) && isWhole && isSealed() ? isSealed : undefined;
  }

  /** Reads the last `count` candles that begin before `toS`, or all candles if there are fewer. */
  *last(wanted: WantedCandles, count: number): InPieces<readonly CandleRun[] | 'too many'> {
    const runs: CandleRun[] = [];
    let missing = count;
    for (const read of this.#pieces(wanted, Number.NEGATIVE_INFINITY, 'newest first')) {
      const run = read();
      if (run === 'too many') return run;
      runs.unshift(run.length > missing ? run.last(missing) : run);
      missing -= run.length;
      if (missing <= 0) break;
      if (count - missing > this.#options.candlesPerRequestMax) return 'too many';
      yield;
    }
    return count - Math.max(missing, 0) > this.#options.candlesPerRequestMax ? 'too many' : runs;
  }

  /** Yields functions. Each function reads a short piece of a range. */
  *#pieces(
    { asset, resolution, toS }: WantedCandles,
    fromS: number,
    order?: 'newest first',
  ): Iterable<() => CandleRun | 'too many'> {
    const { readCandles, candleDays, sealedDays } = this.#options;
    const days = candleDays(asset);
    if (days.first >= days.end) return;
    const isKept = KEPT_MINUTES.includes(Number(resolution));
    const sealed = isKept ? sealedDays(asset) : NO_DAYS;
    const pieceDays = isKept ? 1 : DAYS_PER_PIECE;
    const startS = Math.max(fromS, intervalAt(resolution, days.first * DAY_S).startS);
    const endS = Math.min(toS, days.end * DAY_S);
    const first = Math.floor(startS / DAY_S / pieceDays);
    const count = Math.ceil(endS / DAY_S / pieceDays) - first;
    for (let i = 0; i < count; i++) {
      const day = (order === undefined ? first + i : first + count - 1 - i) * pieceDays;
      const beginS = Math.max(startS, day * DAY_S);
      const stopS = Math.min(endS, (day + pieceDays) * DAY_S);
      yield () => {
        if (day >= sealed.first && day < sealed.end) {
          const text = this.#readDay(asset, resolution, day);
          return text === 'too many' ? text : text.between(beginS, stopS);
        }
        const candles = readCandles(asset, resolution, beginS, stopS);
        if (candles === 'too many') return candles;
        return isKept && beginS === day * DAY_S
          ? this.#openDay(`open ${day} ${resolution} ${asset.index}`, candles)
          : new CandleJson(candles).all;
      };
    }
  }

  #readDay(asset: Asset, resolution: Resolution, day: number): CandleJson | 'too many' {
    const key = `${day} ${resolution} ${asset.index}`;
    const known = this.#findDay(key);
    if (known !== undefined) return known.text;
    const candles = this.#options.readCandles(asset, resolution, day * DAY_S, (day + 1) * DAY_S);
    if (candles === 'too many') return candles;
    const text = new CandleJson(candles);
    // The cache keeps no day without candles, because another node may still send candles of that day, and because reading an
    // empty day costs nothing.
    if (text.length > 0) this.#keepDay(key, { text, bytes: text.bytes });
    return text;
  }

  /** Writes the first candles of a day that may still change. The text of the last request usually has all of them except the last. */
  #openDay(key: string, candles: CandleColumns): CandleRun {
    const known = this.#findDay(key);
    const count = known?.candles === undefined ? 0 : sameCandles(candles, known.candles);
    if (known !== undefined && count === candles.t.length) return known.text.first(count);
    const text = new CandleJson(candles, known && { text: known.text, count });
    this.#keepDay(key, { text, candles, bytes: text.bytes + CANDLE_BYTES * text.length });
    return text.all;
  }

  /** Finds a text, and makes it the most recently used one. */
  #findDay(key: string): DayText | undefined {
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
    }
    return known;
  }

  #keepDay(key: string, day: DayText): void {
    this.#keptBytes += day.bytes - (this.#kept.get(key)?.bytes ?? 0);
    this.#kept.set(key, day);
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES_MAX) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes;
    }
  }

  /** Works until the time of a turn is used up. @returns the result when the work is done */
  #workForTurn(work: InPieces<HistoryResult>): HistoryResult | undefined {
    const endMs = this.#nowMs() + TURN_MS;
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      if (this.#nowMs() >= endMs) return undefined;
    }
  }

  async #finishInTurns(
    caller: string,
    work: InPieces<HistoryResult>,
    earlier: Promise<unknown> | undefined,
  ): Promise<HistoryResult> {
    await earlier;
    for (;;) {
      const result = await this.#turns.run(caller, async () => this.#workForTurn(work));
      if (result !== undefined) return result;
    }
  }
}
