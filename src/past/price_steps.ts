import type { Price } from '../model/price.js';
import type { PackedReader, PackedWriter } from './packed_bytes.js';

/** The flag of a price that is stored as the difference to the previous price. The other bits are the number of zeros. */
const IS_STEP = 0x40;

/** The powers of ten, up to the number of zeros in usual prices. */
const POWERS = Array.from({ length: 39 }, (_, zeros) => 10n ** BigInt(zeros));

/**
 * The successive prices of one asset. A price is written without its final zeros, and as the difference to the previous price if both end
 * with the same number of zeros. Prices have 18 decimals, but most publishers use only a few.
 */
export class PriceSteps {
  #zeros = -1;
  #digits = 0n;

  write(price: Price, out: PackedWriter): void {
    const text = String(price);
    let end = text.length;
    while (end > 1 && text.charCodeAt(end - 1) === 0x30) end--;
    const zeros = text.length - end;
    const digits = zeros === 0 ? (price as bigint) : BigInt(text.slice(0, end));
    const isStep = zeros === this.#zeros;
    out.byte(isStep ? zeros | IS_STEP : zeros);
    out.integer(isStep ? digits - this.#digits : digits);
    this.#zeros = zeros;
    this.#digits = digits;
  }

  /** Skips a price that is not wanted, and on which no wanted price depends. */
  static skip(from: PackedReader): void {
    from.byte();
    from.skipInteger();
  }

  read(from: PackedReader): Price {
    const first = from.byte();
    const value = from.integer();
    this.#zeros = first & ~IS_STEP;
    this.#digits = (first & IS_STEP) === 0 ? value : this.#digits + value;
    return (this.#digits * (POWERS[this.#zeros] ?? 10n ** BigInt(this.#zeros))) as Price;
  }
}
