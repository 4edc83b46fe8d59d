import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { PRICE_BYTES, PRICE_DECIMALS } from '../wire/quantized_price.js';
import { type ParquetColumn, parquetColumn } from './parquet_columns.js';
import type { RowColumn, RowValues } from './row_columns.js';

/** The number of digits of `decimal128`, the largest decimal that readers support. A price has at most one more. */
const DECIMAL_DIGITS = 38;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];

/**
 * Writes a Parquet file row by row: times as `INT64`, prices as `DECIMAL(38, 18)` and texts as `STRING`. Only the rows of one row group are
 * in memory.
 */
export class ParquetRows {
  readonly #columns: readonly ParquetColumn[];
  readonly #groupRows: number;
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows = 0;

  /** @param groupRows the number of rows in a row group */
  constructor(columns: readonly RowColumn[], groupRows: number) {
    this.#columns = columns.map(parquetColumn);
    this.#groupRows = groupRows;
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: schemaOf(columns),
      createdBy: 'tickseal',
    });
  }

  /** The number of bytes that {@link take} would return. */
  get bytes(): number {
    return this.#bytes.index;
  }

  add(values: RowValues): void {
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]!.add(values[i]);
    this.#rows++;
    if (this.#rows >= this.#groupRows) this.#writeGroup();
  }

  /** Returns the bytes that were written since the last call. Then only rows of an unfinished row group are in memory. */
  take(): Uint8Array {
    const bytes = Uint8Array.from(this.#bytes.getBytes());
    this.#bytes.index = 0;
    this.#bytes.buffer = new ArrayBuffer(0);
    this.#bytes.view = new DataView(this.#bytes.buffer);
    return bytes;
  }

  /** Returns the rest of the file. */
  end(): Uint8Array {
    if (this.#rows > 0) this.#writeGroup();
    void this.#writer.finish();
    return this.take();
  }

  #writeGroup(): void {
    const start = this.#bytes.offset;
    const columns = this.#columns.map((column) => column.write(this.#bytes));
    const sizes = columns.map(({ meta_data }) => meta_data!.total_uncompressed_size);
    this.#writer.row_groups.push({
      columns,
      total_byte_size: sizes.reduce((sum, size) => sum + size, 0n),
      num_rows: BigInt(this.#rows),
      total_compressed_size: BigInt(this.#bytes.offset - start),
    });
    this.#writer.num_rows += BigInt(this.#rows);
    this.#rows = 0;
  }
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
