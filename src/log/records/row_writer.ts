import { csvHead, csvLine } from './csv_rows.js';
import { ParquetRows, type PriceType } from './parquet_rows.js';
import { ROW_COLUMNS, type RowDetail, type RowValues } from './row_columns.js';

/** The formats of past aggregates, with their content types. */
export const ROW_FORMATS = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const;
export type RowFormat = keyof typeof ROW_FORMATS;

/** Writes rows in a format. */
export interface RowWriter<Row> {
  /** Adds a row. */
  add(row: Row): void;
  /** The approximate number of bytes that {@link take} would return. */
  readonly bytes: number;
  /** Returns the text or bytes since the last call. */
  take(): Uint8Array;
  /** Returns the remaining bytes. */
  end(): Uint8Array;
}

export interface RowWriterOptions<Row> {
  readonly detail: RowDetail;
  /** The number of rows in a row group of Parquet. */
  readonly groupRows: number;
  /** The type of the prices in Parquet. */
  readonly prices: PriceType;
  readonly jsonOf: (row: Row) => string;
  /** Returns the values of the columns of `detail`. */
  readonly valuesOf: (row: Row) => RowValues;
}

export function openRowWriter<Row>(
  format: RowFormat,
  { detail, groupRows, prices, jsonOf, valuesOf }: RowWriterOptions<Row>,
): RowWriter<Row> {
  const columns = ROW_COLUMNS[detail];
  if (format === 'ndjson') return new RowLines(jsonOf);
  if (format === 'csv') return new RowLines((row) => csvLine(columns, valuesOf(row)), csvHead(columns));
  const rows = new ParquetRows(columns, groupRows, prices);
  return {
    get bytes() {
      return rows.bytes;
    },
    add: (row) => rows.add(valuesOf(row)),
    take: () => rows.take(),
    end: () => rows.end(),
  };
}

/** Writes each row as a line of text. */
export class RowLines<Row> implements RowWriter<Row> {
  readonly #lineOf: (row: Row) => string;
  #text: string;

  /** @param head the first line */
  constructor(lineOf: (row: Row) => string, head?: string) {
    this.#lineOf = lineOf;
    this.#text = head === undefined ? '' : `${head}\n`;
  }

  get bytes(): number {
    return this.#text.length;
  }

  add(row: Row): void {
    this.#text += `${this.#lineOf(row)}\n`;
  }

  take(): Uint8Array {
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    return bytes;
  }

  end(): Uint8Array {
    return this.take();
  }
}
