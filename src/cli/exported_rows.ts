import type { AggregatePrice } from '../client/prices/market_data.js';
import { parseExactJson, writeExactJson } from '../client/verify/exact_json.js';
import type { PriceType } from '../log/records/parquet_rows.js';
import type { RowDetail, RowValues } from '../log/records/row_columns.js';
import { openRowWriter, type RowFormat, type RowWriter } from '../log/records/row_writer.js';
import { readAggregateLine } from '../wire/aggregate_line.js';

/** The number of rows in a row group of Parquet. */
const GROUP_ROWS = 10_000;

/** Creates a writer of verified aggregates. @param prices the type of the prices in Parquet */
export function exportWriter(
  format: RowFormat,
  detail: Exclude<RowDetail, 'price'>,
  prices: PriceType,
): RowWriter<AggregatePrice> {
  return openRowWriter(format, {
    detail,
    groupRows: GROUP_ROWS,
    prices,
    jsonOf: ({ text }) => text,
    valuesOf: (price) => valuesOf(price, detail),
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the columns of an aggregate that passed its checks. */
function valuesOf({ text, price, timestampNs }: AggregatePrice, detail: RowDetail): RowValues {
  const line = readAggregateLine(text);
  if (line !== undefined) {
    const { timestamp, symbol, trigger, publicKey, encodedAssetId, r, s, v, msgHash } = line;
    const ofPrice = [timestampNs, BigInt(timestamp), price, symbol, line.signatureType, trigger];
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
