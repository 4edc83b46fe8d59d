import type { LineEntry } from '../../log/past/past_entry.js';
import type { PriceType } from '../../log/records/parquet_rows.js';
import type { RowDetail, RowValues } from '../../log/records/row_columns.js';
import { openRowWriter, type RowFormat, type RowWriter } from '../../log/records/row_writer.js';
import { readAggregateLine } from '../../wire/aggregate_line.js';

/** The number of rows in a row group. Encoding a row group takes about 3 ms, and blocks the thread for this time. */
const GROUP_ROWS = 128;

/**
 * @param prices the type of the prices in Parquet
 * @returns a writer of rows whose lines have their inputs only for the detail `whole`
 */
export function rangeWriter(format: RowFormat, detail: RowDetail, prices: PriceType): RowWriter<LineEntry> {
  return openRowWriter(format, {
    detail,
    groupRows: GROUP_ROWS,
    prices,
    jsonOf: ({ line }) => (detail === 'price' ? priceJson(line) : line),
    valuesOf: ({ line }) => rowValues(line, detail),
  });
}

/** Writes a line without its signature. The first fields are the fields of `/v1/prices/latest`. */
function priceJson(line: string): string {
  const { timestamp, symbol, signatureType, trigger, price, signedAt } = read(line);
  return (
    `{"timestamp":${timestamp},"asset_id":${JSON.stringify(symbol)},"signature_type":"${signatureType}",` +
    `"trigger":"${trigger}","price":"${price}","signed_at":${signedAt}}`
  );
}

/** Returns the values of a row's columns. */
function rowValues(line: string, detail: RowDetail): RowValues {
  const of = read(line);
  const [signedAtNs, timestampNs, price] = [BigInt(of.signedAt), BigInt(of.timestamp), BigInt(of.price)];
  // Joining arrays takes longer than a single literal. No column reads the values of later details.
  // biome-ignore format: one line of values for each group of columns
  return detail === 'price'
    ? [signedAtNs, timestampNs, price, of.symbol, of.signatureType, of.trigger]
    : [
      signedAtNs, timestampNs, price, of.symbol, of.signatureType, of.trigger,
      of.publicKey, of.encodedAssetId, of.r, of.s, of.v, of.msgHash, of.merkleRoot,
      of.algorithm, of.version, of.checksum,
      of.inputs,
    ];
}

/** @throws RangeError for another text, which no past contains */
function read(line: string): NonNullable<ReturnType<typeof readAggregateLine>> {
  const of = readAggregateLine(line);
  if (of === undefined) throw new RangeError('a row of the past is not an aggregate');
  return of;
}
