import type { PricedEntry } from '../../past/kept_entry.js';
import type { PriceType } from '../../records/parquet_rows.js';
import type { RowDetail, RowValues } from '../../records/row_columns.js';
import { openRowWriter, type RowFormat, type RowWriter } from '../../records/row_writer.js';
import { writeAggregateLine, writeInputs } from '../../records/signed_line.js';

/** The number of rows in a row group. Encoding a row group takes about 3 ms, and blocks the thread for this time. */
const GROUP_ROWS = 128;

/** @param prices the type of the prices in Parquet */
export function rangeWriter(format: RowFormat, detail: RowDetail, prices: PriceType): RowWriter<PricedEntry> {
  return openRowWriter(format, {
    detail,
    groupRows: GROUP_ROWS,
    prices,
    jsonOf: (row) => rowJson(row, detail),
    valuesOf: (row) => rowValues(row, detail),
  });
}

/** Writes a row as JSON. The first fields are the fields of `/v1/prices/latest`. */
function rowJson({ aggregate, shown, hasInputs }: PricedEntry, detail: RowDetail): string {
  if (detail !== 'price') return writeAggregateLine(aggregate, shown, hasInputs && detail === 'whole');
  const { symbol, timestampNs, signatureType, trigger, price, signedAtNs } = aggregate;
  return (
    `{"timestamp":${timestampNs},"asset_id":${JSON.stringify(symbol)},"signature_type":"${signatureType}",` +
    `"trigger":"${trigger}","price":"${price}","signed_at":${signedAtNs}}`
  );
}

/** Returns the values of a row's columns. */
function rowValues({ aggregate, shown, hasInputs }: PricedEntry, detail: RowDetail): RowValues {
  const { signedAtNs, timestampNs, price, symbol, signatureType, trigger } = aggregate;
  if (detail === 'price') return [signedAtNs, timestampNs, price, symbol, signatureType, trigger];
  const { publicKey, r, s, v, msgHash, merkleRoot, algorithm } = aggregate;
  const { encodedAssetId, version, checksum } = shown;
  const inputs = detail === 'whole' && hasInputs ? writeInputs(aggregate) : undefined;
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
