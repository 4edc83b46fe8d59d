import { type CandleInterval, intervalAt } from '../../wire/resolution.js';
import type { Resolution } from '../../wire/rest_values.js';

/** Candles as parallel arrays of equal length, ascending by `t`. The value of `t` is the start of the candle in UNIX seconds. */
export interface CandleColumns {
  readonly t: number[];
  readonly o: number[];
  readonly h: number[];
  readonly l: number[];
  readonly c: number[];
}

/** Merges ascending finer candles into the candles of a resolution that start in a range. */
export class CandleFold {
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
