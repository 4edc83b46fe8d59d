/** The number of bytes before the table: the size prefix and the table's position. */
const PREFIX_BYTES = 8;
const ALIGNMENT = 8;

/**
 * Writes a size-prefixed flat buffer from front to back. The buffer has one table with a 64-bit field and vectors. The builder of the
 * flatbuffers package takes four times as long, because it writes from the back in small calls and needs each vector as an array.
 */
export class TableWriter {
  /** The memory of the table. A call may replace it by larger memory, so this field must be read again after each call. */
  bytes: Buffer = Buffer.alloc(0);
  view = new DataView(this.bytes.buffer);
  #end = 0;
  #table = 0;
  #nextSlot = 0;

  /**
   * Begins a table.
   * @param fields the number of fields in the schema
   * @param vectors the number of fields that are vectors
   */
  begin(fields: number, vectors: number): void {
    const vtableBytes = 4 + 2 * fields;
    const table = aligned(PREFIX_BYTES + vtableBytes, ALIGNMENT);
    const tableBytes = 16 + 4 * (vectors - 1);
    const end = table + tableBytes;
    this.#reserve(end);
    this.#clear(0, end);
    const { view } = this;
    view.setUint32(4, table - 4, true);
    view.setUint16(PREFIX_BYTES, vtableBytes, true);
    view.setUint16(PREFIX_BYTES + 2, tableBytes, true);
    view.setInt32(table, table - PREFIX_BYTES, true);
    this.#table = table;
    this.#nextSlot = table + 4;
    this.#end = end;
  }

  /** Writes the 64-bit field. */
  int64(field: number, value: bigint): void {
    this.view.setBigInt64(this.#table + 8, value, true);
    this.#point(field, this.#table + 8);
  }

  /**
   * Begins a vector.
   * @param alignment the alignment of the elements: 1, 2, 4 or 8 bytes
   * @param bytesMax the largest size of the elements, which is reserved
   * @returns the place in {@link bytes} at which the elements start
   */
  beginVector(field: number, alignment: number, bytesMax: number): number {
    const start = this.#beginElements(alignment, bytesMax);
    const slot = this.#nextSlot;
    // The 64-bit field is between the first slot and the other slots.
    this.#nextSlot = slot === this.#table + 4 ? slot + 12 : slot + 4;
    this.#point(field, slot);
    this.view.setUint32(slot, start - 4 - slot, true);
    return start;
  }

  /** Ends the vector that starts at `start`. */
  endVector(start: number, elements: number, elementBytes: number): void {
    this.view.setUint32(start - 4, elements, true);
    this.#end = start + elements * elementBytes;
  }

  /** Writes a vector of strings. */
  texts(field: number, values: readonly string[]): void {
    const slots = this.beginVector(field, 4, 4 * values.length);
    this.endVector(slots, values.length, 4);
    values.forEach((value, i) => {
      const slot = slots + 4 * i;
      const start = this.#beginElements(1, 3 * value.length + 1);
      this.view.setUint32(slot, start - 4 - slot, true);
      const length = this.bytes.write(value, start);
      this.endVector(start, length, 1);
      // A string ends with a zero byte, which does not count in its length.
      this.bytes[this.#end++] = 0;
    });
  }

  /** Returns a view of {@link bytes}, which the next table overwrites. */
  finish(): Buffer {
    const end = aligned(this.#end, ALIGNMENT);
    this.#clear(this.#end, end);
    this.view.setUint32(0, end - 4, true);
    return this.bytes.subarray(0, end);
  }

  /**
   * Begins the elements of a vector, after the field for their number.
   * @returns the place of the first element
   */
  #beginElements(alignment: number, bytesMax: number): number {
    const start = aligned(this.#end + 4, Math.max(4, alignment));
    this.#reserve(start + bytesMax + ALIGNMENT);
    this.#clear(this.#end, start);
    return start;
  }

  #point(field: number, at: number): void {
    this.view.setUint16(PREFIX_BYTES + 4 + 2 * field, at - this.#table, true);
  }

  /** Clears bytes one by one. For few bytes, a Node function takes longer. */
  #clear(from: number, to: number): void {
    for (let at = from; at < to; at++) this.bytes[at] = 0;
  }

  #reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const larger = Buffer.alloc(Math.max(1_024, 2 * length));
    larger.set(this.bytes);
    this.bytes = larger;
    this.view = new DataView(larger.buffer, larger.byteOffset, larger.length);
  }
}

function aligned(length: number, alignment: number): number {
  return Math.ceil(length / alignment) * alignment;
}
