import type { Price } from '../model/price.js';

/** A candle. Each price is the double nearest to the exact price divided by 10^18. */
export interface CandleValues {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

/**
 * Returns the double nearest to `price` / 10^18, with ties to even. Parsing decimal text rounds once; arithmetic with two doubles would
 * round twice. A smaller price never gives a larger double.
 */
export function toDouble(price: Price): number {
  return Number(`${price}e-18`);
}

/**
 * Candles of one length within one period, as parallel columns; for example the minutes of an hour, or the quarter hours of a day. The
 * candles are in ascending order. Empty candles are absent.
 */
export class CandleBlock {
  constructor(
    public length: number,
    readonly slot: Uint16Array,
    readonly open: Float64Array,
    readonly high: Float64Array,
    readonly low: Float64Array,
    readonly close: Float64Array,
  ) {}

  /** Returns an empty block with room for `capacity` candles. */
  static withRoomFor(capacity: number): CandleBlock {
    const column = () => new Float64Array(capacity);
    return new CandleBlock(0, new Uint16Array(capacity), column(), column(), column(), column());
  }

  push(slot: number, open: number, high: number, low: number, close: number): void {
    const at = this.length++;
    this.slot[at] = slot;
    this.open[at] = open;
    this.high[at] = high;
    this.low[at] = low;
    this.close[at] = close;
  }

  /** Inserts a candle in order. Replaces an existing candle in the same slot. */
  put(slot: number, open: number, high: number, low: number, close: number): void {
    let at = this.length;
    while (at > 0 && this.slot[at - 1]! >= slot) at--;
    const { length } = this;
    if (at === length || this.slot[at] !== slot) {
      for (const column of [this.slot, this.open, this.high, this.low, this.close])
        column.copyWithin(at + 1, at, length);
      this.length++;
    }
    this.slot[at] = slot;
    this.open[at] = open;
    this.high[at] = high;
    this.low[at] = low;
    this.close[at] = close;
  }

  /** Appends the candles of `block`, with `slotOffset` added to each slot. */
  pushBlock(block: CandleBlock, slotOffset: number): void {
    for (let i = 0; i < block.length; i++)
      this.push(slotOffset + block.slot[i]!, block.open[i]!, block.high[i]!, block.low[i]!, block.close[i]!);
  }

  /** Merges the candles into longer candles, each `factor` times as long. */
  coarser(factor: number): CandleBlock {
    const coarse = CandleBlock.withRoomFor(this.length);
    for (let i = 0; i < this.length; i++) {
      const slot = Math.floor(this.slot[i]! / factor);
      const last = coarse.length - 1;
      if (last < 0 || coarse.slot[last] !== slot) {
        coarse.push(slot, this.open[i]!, this.high[i]!, this.low[i]!, this.close[i]!);
      } else {
        if (this.high[i]! > coarse.high[last]!) coarse.high[last] = this.high[i]!;
        if (this.low[i]! < coarse.low[last]!) coarse.low[last] = this.low[i]!;
        coarse.close[last] = this.close[i]!;
      }
    }
    return coarse;
  }
}
