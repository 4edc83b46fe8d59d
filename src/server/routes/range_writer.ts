import type { PricedEntry } from '../../past/kept_entry.js';
import { csvHead, csvLine } from '../../records/csv_rows.js';
import { ParquetRows } from '../../records/parquet_rows.js';
import { ROW_COLUMNS, type RowDetail, type RowValues } from '../../records/row_columns.js';
import { shownAggregateJson, signedPricesJson } from './aggregate_json.js';
import type { RowWriter } from './range_rows.js';

/** The formats of an answer, with their content types. */
export const FORMATS = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const;
export type RangeFormat = keyof typeof FORMATS;

/** The number of rows in a row group. Encoding a row group takes a few milliseconds, and blocks the thread for this time. */
const GROUP_ROWS = 512;

export function rangeWriter(format: RangeFormat, detail: RowDetail): RowWriter {
  const columns = ROW_COLUMNS[detail];
  if (format === 'ndjson') return new RowLines((row) => rowJson(row, detail));
  if (format === 'csv')
    return new RowLines((row) => csvLine(columns, rowValues(row, detail)), csvHead(columns));
  const rows = new ParquetRows(columns, GROUP_ROWS);
  return {
    get bytes() {
      return rows.bytes;
    },
    add: (row) => rows.add(rowValues(row, detail)),
    take: () => rows.take(),
    end: () => rows.end(),
  };
}

/** Writes each row as a line of text. */
class RowLines implements RowWriter {
  readonly #lineOf: (row: PricedEntry) => string;
  #text: string;

  /** @param head the first line */
  constructor(lineOf: (row: PricedEntry) => string, head?: string) {
    this.#lineOf = lineOf;
    this.#text = head === undefined ? '' : `${head}\n`;
  }

  get bytes(): number {
    return this.#text.length;
  }

  add(row: PricedEntry): void {
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

/** Writes a row as JSON. The first fields are the fields of `/v1/prices/latest`. */
function rowJson({ aggregate, shown, hasInputs }: PricedEntry, detail: RowDetail): string {
  if (detail !== 'price') return shownAggregateJson(aggregate, shown, hasInputs && detail === 'whole');
  const { symbol, timestampNs, signatureType, trigger, price, signedAtNs } = aggregate;
  return (
    `{"timestamp":${timestampNs},"asset_id":${JSON.stringify(symbol)},"signature_type":"${signatureType}",` +
    `"trigger":"${trigger}","price":"${price}","signed_at":${signedAtNs}}`
  );
}

/** Returns the values of a row's columns. */
export function rowValues({ aggregate, shown, hasInputs }: PricedEntry, detail: RowDetail): RowValues {
  const { signedAtNs, timestampNs, price, symbol, signatureType, trigger } = aggregate;
  if (detail === 'price') return [signedAtNs, timestampNs, price, symbol, signatureType, trigger];
  const { publicKey, r, s, v, msgHash, merkleRoot, algorithm } = aggregate;
  const { encodedAssetId, version, checksum } = shown;
  const inputs = detail === 'whole' && hasInputs ? signedPricesJson(aggregate) : undefined;
  // Joining arrays takes longer than a single literal. No column reads the value of `inputs` without the detail `whole`.
  // biome-ignore format: one line of values for each group of columns
  return [
    signedAtNs, timestampNs, price, symbol, signatureType, trigger,
    publicKey, encodedAssetId, r, s, v === undefined ? undefined : vText(v), msgHash, merkleRoot,
    algorithm, version, checksum,
    inputs,
  ];
}

/** Returns the text of the recovery value. The same value has the same string, which columns compare fast. */
function vText(v: number): string {
  return v === 27 ? '0x1b' : v === 28 ? '0x1c' : `0x${v.toString(16)}`;
}
