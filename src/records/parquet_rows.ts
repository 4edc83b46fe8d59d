import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { PRICE_BYTES, PRICE_DECIMALS } from '../wire/quantized_price.js';
import type { ColumnChunk } from './parquet_chunk.js';
import { type ParquetColumn, parquetColumn } from './parquet_columns.js';
import type { RowColumn, RowValues } from './row_columns.js';

/** The number of digits of `decimal128`, the largest decimal that readers support. A price has at most one more. */
const DECIMAL_DIGITS = 38;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];

/** The encoded rows of one row group. The places in {@link RowGroup.columns} count from the beginning of the group. */
export interface RowGroup {
  readonly rows: number;
  readonly bytes: Uint8Array;
  readonly columns: readonly ColumnChunk[];
}

/** Encodes rows: times as `INT64`, prices as `DECIMAL(38, 18)` and texts as `STRING`. Only the rows of one row group are in memory. */
export class RowGroupEncoder {
  readonly #columns: readonly ParquetColumn[];
  #rows = 0;
  /** The memory for the next group: the size of the largest group so far. */
  #roomBytes = 0x400;

  constructor(columns: readonly RowColumn[]) {
    this.#columns = columns.map(parquetColumn);
  }

  /** The number of rows since the last group. */
  get rows(): number {
    return this.#rows;
  }

  add(values: RowValues): void {
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]!.add(values[i]);
    this.#rows++;
  }

  /** Returns the group of the rows since the last call. */
  take(): RowGroup {
    const out = new ByteWriter(this.#roomBytes);
    const columns = this.#columns.map((column) => column.write(out));
    const rows = this.#rows;
    this.#rows = 0;
    this.#roomBytes = Math.max(this.#roomBytes, out.index);
    return { rows, bytes: out.getBytes(), columns };
  }
}

/** Joins row groups to a Parquet file. Another thread may have encoded the groups. */
export class ParquetFile {
  /** Receives the head and the end of the file. The bytes of the groups are not copied into it. */
  readonly #frame = new ByteWriter();
  readonly #writer: ParquetWriter;
  #parts: Uint8Array[] = [];

  constructor(columns: readonly RowColumn[]) {
    this.#writer = new ParquetWriter({
      writer: this.#frame,
      schema: schemaOf(columns),
      createdBy: 'tickseal',
    });
  }

  /** The number of bytes that {@link take} would return. */
  get bytes(): number {
    return this.#parts.reduce((sum, { length }) => sum + length, this.#frame.index);
  }

  append({ rows, bytes, columns }: RowGroup): void {
    this.#flush();
    const start = BigInt(this.#frame.offset);
    this.#parts.push(bytes);
    this.#frame.offset += bytes.length;
    this.#writer.row_groups.push({
      columns: columns.map((chunk) => movedBy(start, chunk)),
      total_byte_size: columns.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n),
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(bytes.length),
    });
    this.#writer.num_rows += BigInt(rows);
  }

  /** Returns the bytes that were written since the last call. Then only rows of an unfinished row group are in memory. */
  take(): Uint8Array {
    this.#flush();
    const parts = this.#parts;
    this.#parts = [];
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Returns the rest of the file. */
  end(): Uint8Array {
    void this.#writer.finish();
    return this.take();
  }

  #flush(): void {
    if (this.#frame.index === 0) return;
    this.#parts.push(this.#frame.getBytes().slice());
    this.#frame.index = 0;
  }
}

/** Writes a Parquet file row by row. */
export class ParquetRows {
  readonly #group: RowGroupEncoder;
  readonly #file: ParquetFile;
  readonly #groupRows: number;

  /** @param groupRows the number of rows in a row group */
  constructor(columns: readonly RowColumn[], groupRows: number) {
    this.#group = new RowGroupEncoder(columns);
    this.#file = new ParquetFile(columns);
    this.#groupRows = groupRows;
  }

  /** The number of bytes that {@link take} would return. */
  get bytes(): number {
    return this.#file.bytes;
  }

  add(values: RowValues): void {
    this.#group.add(values);
    if (this.#group.rows >= this.#groupRows) this.#file.append(this.#group.take());
  }

  /** Returns the bytes that were written since the last call. */
  take(): Uint8Array {
    return this.#file.take();
  }

  /** Returns the rest of the file. */
  end(): Uint8Array {
    if (this.#group.rows > 0) this.#file.append(this.#group.take());
    return this.#file.end();
  }
}

/** Returns a column chunk after its row group was appended to a file. */
function movedBy(bytes: bigint, { file_offset, meta_data, ...rest }: ColumnChunk): ColumnChunk {
  const { data_page_offset, dictionary_page_offset: dictionaryAt, ...facts } = meta_data!;
  return {
    ...rest,
    file_offset: file_offset + bytes,
    meta_data: {
      ...facts,
      data_page_offset: data_page_offset + bytes,
      ...(dictionaryAt !== undefined && { dictionary_page_offset: dictionaryAt + bytes }),
    },
  };
}

function schemaOf(columns: readonly RowColumn[]): Schema {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, kind }): Schema[number] => {
      if (kind === 'time') return { name, type: 'INT64', repetition_type: 'REQUIRED' };
      if (kind !== 'price')
        return {
          name,
          type: 'BYTE_ARRAY',
          converted_type: 'UTF8',
          logical_type: { type: 'STRING' },
          repetition_type: 'OPTIONAL',
        };
      return {
        name,
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: PRICE_BYTES,
        converted_type: 'DECIMAL',
        logical_type: { type: 'DECIMAL', precision: DECIMAL_DIGITS, scale: PRICE_DECIMALS },
        precision: DECIMAL_DIGITS,
        scale: PRICE_DECIMALS,
        repetition_type: 'REQUIRED',
      };
    }),
  ];
}
