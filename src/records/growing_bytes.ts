/** The size of the length before a text. */
export const LENGTH_BYTES = 4;

const BYTES_MIN = 0x1000;
const NO_BYTES = Buffer.alloc(0);
const NO_VIEW = viewOf(NO_BYTES);

/** Bytes at the end of which values are written. Without values, they need no memory. */
export class GrowingBytes {
  array = NO_BYTES;
  view = NO_VIEW;
  #length = 0;

  /** The written bytes, which are valid until the next call of any method. */
  get all(): Uint8Array {
    return this.array.subarray(0, this.#length);
  }

  /** Makes room for a value. @returns the place of the value */
  extend(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.array.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(BYTES_MIN, 2 * this.array.length, this.#length));
      larger.set(this.array);
      this.array = larger;
      this.view = viewOf(larger);
    }
    return at;
  }

  /** Adds a text with its length in UTF-8 bytes before it. */
  text(text: string): void {
    const start = this.extend(LENGTH_BYTES + 3 * text.length);
    const length = this.array.write(text, start + LENGTH_BYTES);
    this.view.setUint32(start, length, true);
    this.#length = start + LENGTH_BYTES + length;
  }

  /** Removes all values, and frees their memory. */
  clear(): void {
    this.#length = 0;
    this.array = NO_BYTES;
    this.view = NO_VIEW;
  }
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
