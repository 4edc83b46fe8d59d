import type { Asset } from '../../model/asset.js';
import type { CandleColumns } from '../../store/candle_history.js';
import type { Days } from '../../store/housekeeping.js';
import { DAY_S } from '../../wire/resolution.js';
import type { Resolution } from '../../wire/rest_values.js';

/** Reads the candles that begin in `fromS` <= t < `toS`. Returns `too many` above the limit. */
export type ReadCandles = (
  asset: Asset,
  resolution: Resolution,
  fromS: number,
  toS: number,
) => CandleColumns | 'too many';

export interface CandleTextsOptions {
  readonly readCandles: ReadCandles;
  /** Returns the days on which the candles of an asset no longer change. */
  readonly sealedDays: (asset: Asset) => Days;
  readonly candlesPerRequestMax: number;
}

/**
 * The resolutions whose days are kept. A day has a whole number of candles in each of them, and texts of longer candles are too short
 * to be worth keeping.
 */
const KEPT_MINUTES = [1, 2, 5, 15];
/** The largest number of characters of all kept texts. A day of minutes has about 130,000 characters. */
const CHARACTERS_MAX = 32 * 1024 * 1024;
const NO_DAYS: Days = { first: 0, end: 0 };
const COLUMNS = ['t', 'o', 'h', 'l', 'c'] as const;

/** Candles as the contents of JSON arrays. */
interface Texts {
  readonly length: number;
  readonly columns: readonly string[];
}

/**
 * The JSON of candles. Writing a double takes 70 ns, so a request of 10,080 candles takes 4 ms, and nothing else is served
 * during that time. So a sealed day is written once, and its text is kept until more recently requested days displace it.
 */
export class CandleTexts {
  readonly #options: CandleTextsOptions;
  /** Texts by day. The least recently used text comes first. */
  readonly #kept = new Map<string, Texts>();
  #characters = 0;

  constructor(options: CandleTextsOptions) {
    this.#options = options;
  }

  /** Writes the candles in `fromS` <= t < `toS`. The result is the same as of `JSON.stringify`. */
  json(asset: Asset, resolution: Resolution, fromS: number, toS: number): string | 'too many' {
    const { readCandles, sealedDays, candlesPerRequestMax } = this.#options;
    const sealed = KEPT_MINUTES.includes(Number(resolution)) ? sealedDays(asset) : NO_DAYS;
    const first = Math.max(Math.ceil(fromS / DAY_S), sealed.first);
    const end = Math.min(Math.floor(toS / DAY_S), sealed.end);
    if (first >= end) {
      const candles = readCandles(asset, resolution, fromS, toS);
      return candles === 'too many' ? candles : JSON.stringify(candles);
    }
    const parts: Texts[] = [];
    let length = 0;
    for (const part of this.#parts(asset, resolution, fromS, toS, { first, end })) {
      if (part === 'too many') return part;
      if (part.length > 0) parts.push(part);
      length += part.length;
      if (length > candlesPerRequestMax) return 'too many';
    }
    const arrays = COLUMNS.map((name, i) => `"${name}":[${parts.map(({ columns }) => columns[i]).join()}]`);
    return `{${arrays.join()}}`;
  }

  /**
   * Yields the part before the whole days, each whole day, and the part after them. Each part is read when the caller requests it.
   */
  *#parts(
    asset: Asset,
    resolution: Resolution,
    fromS: number,
    toS: number,
    { first, end }: Days,
  ): Iterable<Texts | 'too many'> {
    const { readCandles } = this.#options;
    yield textsOf(readCandles(asset, resolution, fromS, first * DAY_S));
    for (let day = first; day < end; day++) yield this.#day(asset, resolution, day);
    yield textsOf(readCandles(asset, resolution, end * DAY_S, toS));
  }

  #day(asset: Asset, resolution: Resolution, day: number): Texts | 'too many' {
    const key = `${day} ${resolution} ${asset.index}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known;
    }
    const texts = textsOf(this.#options.readCandles(asset, resolution, day * DAY_S, (day + 1) * DAY_S));
    // A day without candles is not kept, because it may still receive candles from another node, and because reading it costs
    // nothing.
    if (texts === 'too many' || texts.length === 0) return texts;
    this.#kept.set(key, texts);
    this.#characters += charactersOf(texts);
    for (const [oldest, those] of this.#kept) {
      if (this.#characters <= CHARACTERS_MAX) break;
      this.#kept.delete(oldest);
      this.#characters -= charactersOf(those);
    }
    return texts;
  }
}

function textsOf(candles: CandleColumns | 'too many'): Texts | 'too many' {
  if (candles === 'too many') return candles;
  return {
    length: candles.t.length,
    columns: COLUMNS.map((name) => JSON.stringify(candles[name]).slice(1, -1)),
  };
}

function charactersOf({ columns }: Texts): number {
  return columns.reduce((sum, { length }) => sum + length, 0);
}
