import type { Price } from '../../model/price.js';

/** A candle. Each price is the double nearest to the exact price divided by 10^18. */
export interface CandleValues {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

/** A candle and its number since 1970 among the candles of its length. */
export interface NumberedCandle extends CandleValues {
  readonly number: number;
}

/**
 * Returns the double nearest to `price` / 10^18, with ties to even. Parsing decimal text rounds once; arithmetic with two doubles would
 * round twice. A smaller price never gives a larger double.
 */
export function toDouble(price: Price): number {
  return Number(`${price}e-18`);
}

/** The size of a candle for another node: its place in the block (uint16), open, high, low and close as doubles, little-endian. */
const CANDLE_BYTES = 34;

/**
 * Encodes the candles of an hour or a day for another node.
 * @param candles ascending
 * @param first the number of the block's first candle
 */
export function encodeCandles(candles: readonly NumberedCandle[], first: number): Uint8Array {
  const bytes = Buffer.alloc(candles.length * CANDLE_BYTES);
  for (const [i, { number, open, high, low, close }] of candles.entries()) {
    const at = i * CANDLE_BYTES;
    bytes.writeUInt16LE(number - first, at);
    for (const [value, price] of [open, high, low, close].entries())
      bytes.writeDoubleLE(price, at + 2 + 8 * value);
  }
  return bytes;
}

/**
 * Reads the bytes of {@link encodeCandles}.
 * @param length the number of candles that a block has room for
 * @throws RangeError for other bytes
 */
export function decodeCandles(record: Uint8Array, first: number, length: number): NumberedCandle[] {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.length);
  const candles: NumberedCandle[] = [];
  let next = 0;
  for (let at = 0; at < bytes.length; at += CANDLE_BYTES) {
    const place = bytes.readUInt16LE(at);
    if (place < next || place >= length) throw new RangeError('candles of another node are not in order');
    next = place + 1;
    const price = (value: number) => bytes.readDoubleLE(at + 2 + 8 * value);
    candles.push({ number: first + place, open: price(0), high: price(1), low: price(2), close: price(3) });
  }
  return candles;
}
