import type { AggregatePrice } from '../client/prices/market_data.js';
import { parseExactJson, writeExactJson } from '../client/verify/exact_json.js';
import type { PricedEntry } from '../past/kept_entry.js';
import { csvHead, csvLine } from '../records/csv_rows.js';
import { ParquetRows } from '../records/parquet_rows.js';
import { ROW_COLUMNS, type RowDetail, type RowValues } from '../records/row_columns.js';
import { shownAggregateJson } from '../server/routes/aggregate_json.js';
import { rowValues } from '../server/routes/range_writer.js';
import { readAggregateLine } from '../wire/aggregate_line.js';

export const EXPORT_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The number of rows in a row group of Parquet. */
const GROUP_ROWS = 10_000;

/** Writes verified aggregates in one file format. */
export interface ExportedRows {
  add(price: AggregatePrice): void;
  /** Adds an aggregate that passed the same checks in the form of the service's past. */
  addKept(entry: PricedEntry): void;
  /** Returns the bytes since the last call. */
  take(): Uint8Array;
  /** Returns the remaining bytes. */
  end(): Uint8Array;
}

export function exportedRows(format: ExportFormat, detail: Exclude<RowDetail, 'price'>): ExportedRows {
  const columns = ROW_COLUMNS[detail];
  if (format === 'parquet') {
    const rows = new ParquetRows(columns, GROUP_ROWS);
    return {
      add: (price) => rows.add(valuesOf(price, detail)),
      addKept: (entry) => rows.add(rowValues(entry, detail)),
      take: () => rows.take(),
      end: () => rows.end(),
    };
  }
  let text = format === 'csv' ? `${csvHead(columns)}\n` : '';
  const take = () => {
    const bytes = Buffer.from(text);
    text = '';
    return bytes;
  };
  return {
    add(price) {
      text += `${format === 'csv' ? csvLine(columns, valuesOf(price, detail)) : price.text}\n`;
    },
    addKept(entry) {
      text +=
        format === 'csv'
          ? `${csvLine(columns, rowValues(entry, detail))}\n`
          : `${shownAggregateJson(entry.aggregate, entry.shown, entry.hasInputs)}\n`;
    },
    take,
    end: take,
  };
}

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
