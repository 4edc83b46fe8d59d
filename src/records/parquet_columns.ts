import { ByteWriter } from 'hyparquet-writer';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { type Price, writePrice } from '../model/price.js';
import { PRICE_BYTES } from '../wire/quantized_price.js';
import { GrowingBytes, LENGTH_BYTES } from './growing_bytes.js';
import { ChunkWriter, type ColumnChunk, levelsOf } from './parquet_chunk.js';
import type { CellValue, RowColumn } from './row_columns.js';

/**
 * Encodes the values of a column as they are added. The writer of hyparquet collects values instead, and goes through them once for each
 * step of the encoding, which takes six times as long.
 */
export interface ParquetColumn {
  /** @throws TypeError for a value of another kind */
  add(value: CellValue): void;
  /**
   * Writes the values since the last call.
   * @throws RangeError when a value has too many bits for the column
   */
  write(out: ByteWriter): ColumnChunk;
}

export function parquetColumn({ name, kind }: RowColumn): ParquetColumn {
  if (kind === 'text' || kind === 'json') return new TextColumn(name, kind);
  if (kind === 'digits') return new DigitsColumn(name);
  return new IntegerColumn(name, kind);
}

const TIME_BYTES = 8;

/** Times as `INT64`, or prices as a decimal of 16 bytes. No value is absent. */
class IntegerColumn implements ParquetColumn {
  readonly #name: string;
  readonly #kind: 'time' | 'price';
  readonly #size: number;
  readonly #bytes = new GrowingBytes();
  #count = 0;
  #min = 0n;
  #max = 0n;

  constructor(name: string, kind: 'time' | 'price') {
    this.#name = name;
    this.#kind = kind;
    this.#size = kind === 'time' ? TIME_BYTES : PRICE_BYTES;
  }

  add(value: CellValue): void {
    if (typeof value !== 'bigint') throw new TypeError(`${this.#name} must be an integer`);
    if (this.#count === 0 || value < this.#min) this.#min = value;
    if (this.#count === 0 || value > this.#max) this.#max = value;
    this.#count++;
    const at = this.#bytes.extend(this.#size);
    if (this.#kind === 'time') this.#bytes.view.setBigInt64(at, value, true);
    else writePrice(value as Price, this.#bytes.array, at);
  }

  write(out: ByteWriter): ColumnChunk {
    const [min_value, max_value, count] = [this.#min, this.#max, this.#count];
    const bits = 8 * this.#size;
    // The smallest and the largest value decide for all values.
    for (const value of [min_value, max_value])
      if (BigInt.asIntN(bits, value) !== value)
        throw new RangeError(`${this.#name} has more than ${bits} bits`);
    const chunk = new ChunkWriter(out, this.#name, this.#kind === 'time' ? 'INT64' : 'FIXED_LEN_BYTE_ARRAY');
    chunk.dataPage({
      count,
      nulls: 0,
      encoding: 'PLAIN',
      levels: NO_BYTES,
      values: this.#bytes.all,
      isPacked: true,
    });
    this.#bytes.clear();
    this.#count = 0;
    return chunk.end(count, 'SNAPPY', { min_value, max_value, null_count: 0n });
  }
}

/**
 * Texts, each distinct text once. Texts of kind `json` repeat only from one row to the next, so the column forgets earlier texts. Keeping
 * the texts and looking them up would take 6 % of an export's CPU time.
 */
class TextColumn implements ParquetColumn {
  readonly #name: string;
  readonly #texts = new GrowingBytes();
  /** The numbers of all texts; `undefined` to compare a text only with the last one. */
  readonly #numbers: Map<string, number> | undefined;
  #count = 0;
  /** The number of the text of each value; -1 for an absent value. */
  #values: number[] = [];
  #last: string | undefined;
  #lastNumber = -1;

  constructor(name: string, kind: 'text' | 'json') {
    this.#name = name;
    this.#numbers = kind === 'text' ? new Map() : undefined;
  }

  add(value: CellValue): void {
    // Most texts are the text of the row before.
    if (value !== this.#last) {
      if (value !== undefined && typeof value !== 'string')
        throw new TypeError(`${this.#name} must be a text`);
      this.#last = value;
      this.#lastNumber = value === undefined ? -1 : this.#numberOf(value);
    }
    this.#values.push(this.#lastNumber);
  }

  #numberOf(text: string): number {
    const known = this.#numbers?.get(text);
    if (known !== undefined) return known;
    const number = this.#count++;
    this.#numbers?.set(text, number);
    this.#texts.text(text);
    return number;
  }

  write(out: ByteWriter): ColumnChunk {
    const values = this.#values;
    const { levels, nulls } = levelsOf(values, (value) => value >= 0);
    const chunk = new ChunkWriter(out, this.#name, 'BYTE_ARRAY');
    chunk.dictionaryPage(this.#count, this.#texts.all);
    // Some readers do not accept a width of 0 bits.
    const width = Math.max(1, 32 - Math.clz32(this.#count - 1));
    const indexes = new ByteWriter();
    indexes.appendUint8(width);
    writeRleBitPackedHybrid(indexes, nulls === 0 ? values : values.filter((value) => value >= 0), width);
    const page = { count: values.length, nulls, levels, values: indexes.getBytes(), isPacked: false };
    chunk.dataPage({ ...page, encoding: 'RLE_DICTIONARY' });
    this.#texts.clear();
    this.#numbers?.clear();
    this.#count = 0;
    this.#values = [];
    this.#last = undefined;
    this.#lastNumber = -1;
    return chunk.end(values.length, 'SNAPPY');
  }
}

/** The two hex digits of each byte. */
const [HIGH_DIGITS, LOW_DIGITS] = [4, 0].map((shift) =>
  Uint8Array.from({ length: 256 }, (_, byte) => ((byte >> shift) & 15).toString(16).charCodeAt(0)),
) as [Uint8Array, Uint8Array];

/** Hex digits, which hardly compress. */
class DigitsColumn implements ParquetColumn {
  readonly #name: string;
  readonly #bytes = new GrowingBytes();
  #isPresent: boolean[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add(value: CellValue): void {
    this.#isPresent.push(value !== undefined);
    if (value === undefined) return;
    if (typeof value === 'string') {
      this.#bytes.text(value);
      return;
    }
    if (typeof value === 'bigint') throw new TypeError(`${this.#name} must be bytes or their digits`);
    const length = 2 + 2 * value.length;
    let at = this.#bytes.extend(LENGTH_BYTES + length);
    const { array, view } = this.#bytes;
    view.setUint32(at, length, true);
    array[at + 4] = 0x30;
    array[at + 5] = 0x78;
    at += 6;
    for (let i = 0; i < value.length; i++) {
      const byte = value[i]!;
      array[at++] = HIGH_DIGITS[byte]!;
      array[at++] = LOW_DIGITS[byte]!;
    }
  }

  write(out: ByteWriter): ColumnChunk {
    const count = this.#isPresent.length;
    const { levels, nulls } = levelsOf(this.#isPresent, (isPresent) => isPresent);
    const chunk = new ChunkWriter(out, this.#name, 'BYTE_ARRAY');
    chunk.dataPage({ count, nulls, encoding: 'PLAIN', levels, values: this.#bytes.all, isPacked: false });
    this.#bytes.clear();
    this.#isPresent = [];
    return chunk.end(count, 'UNCOMPRESSED');
  }
}

const NO_BYTES = new Uint8Array();
