/** The size of a price in a record. */
const INT128_BYTES = 16;

/**
 * Reads the fields of a flat buffer's table, by their indexes in the schema. An absent field has the value 0. The reader of the
 * flatbuffers package takes several times as long, because it makes a text decoder for each buffer and several bigints for each 64-bit
 * field. Each method throws a `RangeError` for a field outside of the bytes.
 */
export class TableReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #table: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;

  private constructor(bytes: Uint8Array, view: DataView, table: number) {
    this.#bytes = bytes;
    this.#view = view;
    this.#table = table;
    this.#vtable = table - view.getInt32(table, true);
    this.#vtableBytes = view.getUint16(this.#vtable, true);
  }

  /**
   * Returns the root table of a buffer.
   * @param prefixBytes the number of bytes before the buffer: 4 for a size prefix
   */
  static rootOf(bytes: Uint8Array, prefixBytes: number): TableReader {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return new TableReader(bytes, view, prefixBytes + view.getUint32(prefixBytes, true));
  }

  uint8(field: number): number {
    const at = this.#placeOf(field);
    return at === 0 ? 0 : this.#view.getUint8(at);
  }

  uint32(field: number): number {
    const at = this.#placeOf(field);
    return at === 0 ? 0 : this.#view.getUint32(at, true);
  }

  uint16(field: number): number {
    const at = this.#placeOf(field);
    return at === 0 ? 0 : this.#view.getUint16(at, true);
  }

  uint64(field: number): bigint {
    const at = this.#placeOf(field);
    return at === 0 ? 0n : this.#view.getBigUint64(at, true);
  }

  int64(field: number): bigint {
    const at = this.#placeOf(field);
    return at === 0 ? 0n : this.#view.getBigInt64(at, true);
  }

  float64(field: number): number {
    const at = this.#placeOf(field);
    return at === 0 ? 0 : this.#view.getFloat64(at, true);
  }

  /** Returns the number of a vector of 16 bytes, in big-endian two's complement; `undefined` for an absent vector. */
  int128(field: number): bigint | undefined {
    const at = this.#placeOf(field);
    if (at === 0) return undefined;
    const vector = this.#pointedFrom(at);
    if (this.#lengthOf(vector) !== INT128_BYTES)
      throw new RangeError('a number of the record has a wrong size');
    return (this.#view.getBigInt64(vector + 4) << 64n) | this.#view.getBigUint64(vector + 12);
  }

  /** Returns the number of bytes in a vector; `undefined` for an absent vector. */
  length(field: number): number | undefined {
    const at = this.#placeOf(field);
    return at === 0 ? undefined : this.#lengthOf(this.#pointedFrom(at));
  }

  /** Returns the bytes of a vector, which share memory with the buffer; `undefined` for an absent vector. */
  bytes(field: number): Uint8Array | undefined {
    const at = this.#placeOf(field);
    if (at === 0) return undefined;
    const vector = this.#pointedFrom(at);
    const length = this.#lengthOf(vector);
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + vector + 4, length);
  }

  /** Returns a text; `undefined` for an absent text. */
  text(field: number): string | undefined {
    const bytes = this.bytes(field);
    return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  }

  /** Returns the tables of a vector; none for an absent vector. */
  tables(field: number): TableReader[] {
    const at = this.#placeOf(field);
    if (at === 0) return [];
    const vector = this.#pointedFrom(at);
    const count = this.#view.getUint32(vector, true);
    const first = vector + 4;
    if (first + 4 * count > this.#bytes.length) throw new RangeError('a list ends outside of the record');
    const pointer = (index: number) => this.#pointedFrom(first + 4 * index);
    return Array.from({ length: count }, (_, i) => new TableReader(this.#bytes, this.#view, pointer(i)));
  }

  /** Returns a table inside this table; `undefined` for an absent table. */
  table(field: number): TableReader | undefined {
    const at = this.#placeOf(field);
    return at === 0
      ? undefined
      : new TableReader(this.#bytes, this.#view, at + this.#view.getUint32(at, true));
  }

  /** @returns 0 for an absent field */
  #placeOf(field: number): number {
    const slot = 4 + 2 * field;
    if (slot >= this.#vtableBytes) return 0;
    const offset = this.#view.getUint16(this.#vtable + slot, true);
    return offset === 0 ? 0 : this.#table + offset;
  }

  #pointedFrom(at: number): number {
    return at + this.#view.getUint32(at, true);
  }

  #lengthOf(vector: number): number {
    const length = this.#view.getUint32(vector, true);
    if (vector + 4 + length > this.#bytes.length) throw new RangeError('a field ends outside of the record');
    return length;
  }
}
