/** The size of the length before a text. */
export const LENGTH_BYTES = 4;

/** Bytes at the end of which values are written. The memory is reused. */
export class GrowingBytes {
  array: Buffer = Buffer.alloc(0x1000);
  view = viewOf(this.array);
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
      const larger = Buffer.alloc(Math.max(2 * this.array.length, this.#length));
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

  clear(): void {
    this.#length = 0;
  }
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
