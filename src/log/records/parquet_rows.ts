import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { toHex } from '../../model/hex.js';
import { PRICE_BYTES, PRICE_DECIMALS } from '../../wire/quantized_price.js';
import { decimalText } from './csv_rows.js';
import type { CellValue, RowColumn, RowValues } from './row_columns.js';

/** The number of digits of `decimal128`, the largest decimal that readers support. */
const DECIMAL_DIGITS = 38;
const DECIMAL_BOUND = 10n ** BigInt(DECIMAL_DIGITS);

/** The type of the column of prices: `DECIMAL(38, 18)`, or text for a file with a price that has more digits. */
export type PriceType = 'decimal' | 'text';

/** Returns whether `DECIMAL(38, 18)` holds a price. Without its 18 decimals, such a price has at most 20 digits. */
export function fitsDecimal(price: bigint): boolean {
  return price < DECIMAL_BOUND && price > -DECIMAL_BOUND;
}

/** The key of the file's metadata with the type of the prices, and its values. */
const PRICE_KEY = 'tickseal.price';
const PRICE_NOTES: Readonly<Record<PriceType, string>> = {
  decimal: `DECIMAL(${DECIMAL_DIGITS}, ${PRICE_DECIMALS})`,
  text: `decimal text, because a price has more than ${DECIMAL_DIGITS} digits`,
};

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];

/**
 * Writes a Parquet file row by row: times as `INT64`, prices as {@link PriceType} says, and texts as `STRING`. Only the rows of one row
 * group are in memory.
 */
export class ParquetRows {
  readonly #columns: readonly RowColumn[];
  readonly #groupRows: number;
  readonly #prices: PriceType;
  readonly #out = new ByteWriter();
  readonly #writer: ParquetWriter;
  /** The values of the next row group, by column. */
  #values: CellValue[][];

  /** @param groupRows the number of rows in a row group */
  constructor(columns: readonly RowColumn[], groupRows: number, prices: PriceType) {
    this.#columns = columns;
    this.#groupRows = groupRows;
    this.#prices = prices;
    this.#values = columns.map(() => []);
    this.#writer = new ParquetWriter({
      writer: this.#out,
      schema: schemaOf(columns, prices),
      createdBy: 'tickseal',
      kvMetadata: [{ key: PRICE_KEY, value: PRICE_NOTES[prices] }],
    });
  }

  /** The number of bytes that {@link take} would return. */
  get bytes(): number {
    return this.#out.index;
  }

  /** @throws RangeError for a price that the column does not hold */
  add(values: RowValues): void {
    for (const [i, { name, kind }] of this.#columns.entries()) {
      const value = values[i];
      if (kind === 'price' && this.#prices === 'decimal' && !fitsDecimal(value as bigint))
        throw new RangeError(`${name} has more than ${DECIMAL_DIGITS} digits`);
      this.#values[i]!.push(
        kind === 'price' && this.#prices === 'text' ? decimalText(value as bigint) : cellValue(value),
      );
    }
    if (this.#values[0]!.length >= this.#groupRows) this.#writeGroup();
  }

  /** Returns the bytes that were written since the last call. */
  take(): Uint8Array {
    const bytes = this.#out.getBytes().slice();
    this.#out.index = 0;
    return bytes;
  }

  /** Returns the rest of the file. */
  end(): Uint8Array {
    if (this.#values[0]!.length > 0) this.#writeGroup();
    void this.#writer.finish();
    return this.take();
  }

  /** @throws RangeError for a time that has more than 64 bits */
  #writeGroup(): void {
    const columnData = this.#columns.map(({ name, kind }, i) => {
      const data = this.#values[i]!;
      // Digits hardly compress, and hardly repeat.
      return kind === 'digits'
        ? ({ name, data, encoding: 'PLAIN', codec: 'UNCOMPRESSED' } as const)
        : { name, data };
    });
    void this.#writer.write({ columnData, rowGroupSize: this.#groupRows });
    this.#values = this.#columns.map(() => []);
  }
}

function cellValue(value: CellValue): CellValue {
  return typeof value === 'object' ? toHex(value) : value;
}

function schemaOf(columns: readonly RowColumn[], prices: PriceType): Schema {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, kind }): Schema[number] => {
      if (kind === 'time') return { name, type: 'INT64', repetition_type: 'REQUIRED' };
      if (kind !== 'price' || prices === 'text')
        return {
          name,
          type: 'BYTE_ARRAY',
          converted_type: 'UTF8',
          logical_type: { type: 'STRING' },
          repetition_type: kind === 'price' ? 'REQUIRED' : 'OPTIONAL',
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
