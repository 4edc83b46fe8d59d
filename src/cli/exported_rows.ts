import type { AggregatePrice } from '../client/prices/market_data.js';
import { parseExactJson, writeExactJson } from '../client/verify/exact_json.js';
import { csvHead, csvLine } from '../records/csv_rows.js';
import { ParquetFile, type RowGroup, RowGroupEncoder } from '../records/parquet_rows.js';
import { ROW_COLUMNS, type RowDetail, type RowValues } from '../records/row_columns.js';
import { readAggregateLine } from '../wire/aggregate_line.js';

export const EXPORT_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The number of rows that are encoded together: a row group of Parquet. */
export const GROUP_ROWS = 10_000;

/** Rows in a file's format, without the file's head and end. The formats of text have no columns. */
export type EncodedRows = RowGroup;

/** Encodes verified aggregates in one file format. */
export interface RowsEncoder {
  /** The number of rows since {@link take}. */
  readonly rows: number;
  add(price: AggregatePrice): void;
  /** Returns the rows since the last call. */
  take(): EncodedRows;
}

export type ExportDetail = Exclude<RowDetail, 'price'>;

export function rowsEncoder(format: ExportFormat, detail: ExportDetail): RowsEncoder {
  if (format !== 'parquet') return new LinesEncoder(format, detail);
  const group = new RowGroupEncoder(ROW_COLUMNS[detail]);
  return {
    get rows() {
      return group.rows;
    },
    add: (price) => group.add(valuesOf(price, detail)),
    take: () => group.take(),
  };
}

class LinesEncoder implements RowsEncoder {
  readonly #isCsv: boolean;
  readonly #detail: ExportDetail;
  #text = '';
  rows = 0;

  constructor(format: 'csv' | 'ndjson', detail: ExportDetail) {
    this.#isCsv = format === 'csv';
    this.#detail = detail;
  }

  add(price: AggregatePrice): void {
    this.#line(this.#isCsv ? this.#csv(valuesOf(price, this.#detail)) : price.text);
  }

  take(): EncodedRows {
    const encoded = { rows: this.rows, bytes: new TextEncoder().encode(this.#text), columns: [] };
    this.#text = '';
    this.rows = 0;
    return encoded;
  }

  #csv(values: RowValues): string {
    return csvLine(ROW_COLUMNS[this.#detail], values);
  }

  #line(text: string): void {
    this.#text += `${text}\n`;
    this.rows++;
  }
}

/** Joins encoded rows to a file. */
export interface JoinedRows {
  /** Returns the next bytes of the file. */
  append(rows: EncodedRows): Uint8Array;
  /** Returns the remaining bytes. */
  end(): Uint8Array;
}

export function joinedRows(format: ExportFormat, detail: ExportDetail): JoinedRows {
  if (format === 'parquet') {
    const file = new ParquetFile(ROW_COLUMNS[detail]);
    return {
      append(rows) {
        file.append(rows);
        return file.take();
      },
      end: () => file.end(),
    };
  }
  let head: Uint8Array = Buffer.from(format === 'csv' ? `${csvHead(ROW_COLUMNS[detail])}\n` : '');
  const withHead = (bytes: Uint8Array) => {
    const all = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
    head = NO_BYTES;
    return all;
  };
  return { append: ({ bytes }) => withHead(bytes), end: () => withHead(NO_BYTES) };
}

const NO_BYTES = new Uint8Array();

type Fields = Readonly<Record<string, unknown>>;

/** Returns the columns of an aggregate that passed its checks. */
function valuesOf({ text, price, timestampNs }: AggregatePrice, detail: RowDetail): RowValues {
  const line = readAggregateLine(text);
  if (line !== undefined) {
    const { timestamp, symbol, trigger, publicKey, encodedAssetId, r, s, v, msgHash } = line;
    const ofPrice = [timestampNs, BigInt(timestamp), price, symbol, 'evm', trigger];
    const ofKey = [publicKey, encodedAssetId, r, s, v, msgHash];
    const ofAlgorithm = [line.merkleRoot, line.algorithm, line.version, line.checksum];
    return [...ofPrice, ...ofKey, ...ofAlgorithm, ...(detail === 'whole' ? [line.inputs] : [])];
  }
  const root = parseExactJson(text) as Fields;
  const [name] = Object.keys(root).filter((key) => key.endsWith('_signed_price'));
  const signed = root[name!] as Fields;
  const { signature, msg_hash } = signed['timestamped_signature'] as Fields;
  const { r, s, v } = signature as Fields;
  const { type, version, checksum } = signed['calculation_alg'] as Fields;
  const texts = [root['asset_id'], root['signature_type'], root['trigger']];
  const ofSignature = [signed['public_key'], signed['encoded_asset_id'], r, s, v, msg_hash];
  const ofAlgorithm = [signed['publisher_merkle_root'], type, version, checksum];
  const inputs = root['signed_prices'] as object | undefined;
  const whole = detail === 'whole' ? [inputs && writeExactJson(inputs)] : [];
  const values = [...texts, ...ofSignature, ...ofAlgorithm, ...whole];
  return [
    timestampNs,
    BigInt(root['timestamp'] as bigint | number | string),
    price,
    ...values.map((value) => (value === undefined ? undefined : String(value))),
  ];
}
