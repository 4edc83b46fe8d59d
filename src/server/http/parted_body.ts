/**
 * A body in parts, for answers that share long texts with other answers. A caller reads the body once, from the beginning. No
 * part may change until the end of reading.
 */
export class PartedBody {
  readonly #parts: readonly Uint8Array[];
  /** The number of bytes of all parts. */
  readonly length: number;
  /** The index of the next part to read, and the number of bytes before that part. */
  #part = 0;
  #partStart = 0;

  constructor(parts: readonly Uint8Array[]) {
    this.#parts = parts;
    this.length = parts.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Copies bytes of the body from `offset` until `target` is full or the body ends.
   * @param offset at least the offset of the earlier call
   * @returns the number of copied bytes
   */
  copy(offset: number, target: Uint8Array): number {
    for (;;) {
      const part = this.#parts[this.#part];
      if (part === undefined || offset < this.#partStart + part.length) break;
      this.#partStart += part.length;
      this.#part++;
    }
    let copied = 0;
    let skipped = offset - this.#partStart;
    for (let i = this.#part; i < this.#parts.length && copied < target.length; i++) {
      const part = this.#parts[i]!;
      const room = target.length - copied;
      const bytes =
        skipped > 0 || part.length - skipped > room ? part.subarray(skipped, skipped + room) : part;
      target.set(bytes, copied);
      copied += bytes.length;
      skipped = 0;
    }
    return copied;
  }

  /** Returns a copy of the whole body. */
  joined(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** Returns the text of the whole body. */
  toString(): string {
    return this.joined().toString();
  }
}
