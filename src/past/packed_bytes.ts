/** A writer of short integers and bytes. Its memory grows as needed, and is reused after {@link PackedWriter.take}. */
export class PackedWriter {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Returns a copy of the written bytes, and clears the writer. */
  take(): Buffer {
    const copy = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return copy;
  }

  /** Returns the bytes from `start` on. The bytes are valid until the next call of any method. */
  since(start: number): Buffer {
    return this.#bytes.subarray(start, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes an integer from 0 to 2^53 - 1 as groups of seven bits, the lowest first. */
  count(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Writes an integer of any sign. Values near 0 take one byte. */
  integer(value: bigint): void {
    let rest = value < 0n ? ((-value - 1n) << 1n) | 1n : value << 1n;
    while (rest > LOW_BITS_MAX) {
      this.#reserve(7);
      let low = Number(rest & LOW_BITS_MAX);
      for (let i = 0; i < 7; i++) {
        this.#bytes[this.#length++] = (low % 0x80) | 0x80;
        low = Math.floor(low / 0x80);
      }
      rest >>= 49n;
    }
    this.count(Number(rest));
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Writes the length of the bytes, then the bytes. */
  sized(value: Uint8Array): void {
    this.count(value.length);
    this.bytes(value);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The largest value of seven groups, 49 bits, which a double holds exactly. */
const LOW_BITS_MAX = (1n << 49n) - 1n;
/** The highest shift of seven groups in an integer. A price has 128 bits, and a difference of prices one more. */
const SHIFT_MAX = 4n * 49n;

/** Reads the bytes of a {@link PackedWriter}. Reading past the end throws a `RangeError`. */
export class PackedReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at++];
    if (value === undefined) throw new RangeError('the bytes end too early');
    return value;
  }

  count(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  integer(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 49n) {
      // The time to read a longer integer would grow with the square of its length.
      if (shift > SHIFT_MAX) throw new RangeError('an integer is too long');
      let low = 0;
      let factor = 1;
      let byte = 0x80;
      for (let i = 0; i < 7 && byte >= 0x80; i++, factor *= 0x80) {
        byte = this.byte();
        low += (byte & 0x7f) * factor;
      }
      // Most integers are short and need only one bigint.
      if (byte < 0x80 && shift === 0n) return BigInt(low % 2 === 0 ? low / 2 : -(low + 1) / 2);
      value |= BigInt(low) << shift;
      if (byte < 0x80) break;
    }
    return (value & 1n) === 0n ? value >> 1n : -(value >> 1n) - 1n;
  }

  skipInteger(): void {
    while (this.byte() >= 0x80);
  }

  /** Returns the next bytes, which share this reader's memory. */
  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the bytes end too early');
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  /**
   * Skips bytes that may not be needed. Creating a view costs more than reading an entry's integers.
   * @returns the place of the bytes, for {@link bytesAt}
   */
  skip(length: number): number {
    const start = this.#at;
    if (start + length > this.#bytes.length) throw new RangeError('the bytes end too early');
    this.#at = start + length;
    return start;
  }

  /** Returns skipped bytes. */
  bytesAt(start: number, length: number): Buffer {
    return this.#bytes.subarray(start, start + length);
  }

  sized(): Buffer {
    return this.bytes(this.count());
  }
}

/** Distinct texts, numbered so that entries can refer to them. */
export class TextList {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.texts.length;
      this.add(text);
    }
    return number;
  }

  add(text: string): void {
    this.#numbers.set(text, this.texts.length);
    this.texts.push(text);
  }

  /** @throws RangeError when no text has this number */
  textOf(number: number): string {
    const text = this.texts[number];
    if (text === undefined) throw new RangeError('a number names no text');
    return text;
  }
}
