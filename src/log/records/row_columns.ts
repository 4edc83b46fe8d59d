/** A value of a past aggregate. Digits are the bytes or the text. A text is `undefined` when it is no longer stored. */
export type CellValue = bigint | string | Uint8Array | undefined;

/** The values of a past aggregate, in the order of the columns. */
export type RowValues = readonly CellValue[];

/**
 * A column. `time`: UNIX nanoseconds. `price`: a price times 10^18. `digits`: the digits of a hash or a signature, which hardly compress.
 * `json`: long texts, which repeat only from one row to the next.
 */
export interface RowColumn {
  readonly name: string;
  readonly kind: 'time' | 'price' | 'text' | 'digits' | 'json';
}

/** The forms of a past aggregate. Each form has the columns of the earlier forms and more. */
export const ROW_DETAILS = ['price', 'signature', 'whole'] as const;
export type RowDetail = (typeof ROW_DETAILS)[number];

const PRICE_COLUMNS: readonly RowColumn[] = [
  { name: 'signed_at', kind: 'time' },
  { name: 'timestamp', kind: 'time' },
  { name: 'price', kind: 'price' },
  { name: 'asset_id', kind: 'text' },
  { name: 'signature_type', kind: 'text' },
  { name: 'trigger', kind: 'text' },
];

const DIGITS = new Set(['r', 's', 'msg_hash', 'publisher_merkle_root']);
const SIGNATURE_COLUMNS = [
  'public_key',
  'encoded_asset_id',
  'r',
  's',
  'v',
  'msg_hash',
  'publisher_merkle_root',
  'algorithm',
  'algorithm_version',
  'algorithm_checksum',
].map((name): RowColumn => ({ name, kind: DIGITS.has(name) ? 'digits' : 'text' }));

/** The columns of each form. */
export const ROW_COLUMNS: Readonly<Record<RowDetail, readonly RowColumn[]>> = {
  price: PRICE_COLUMNS,
  signature: [...PRICE_COLUMNS, ...SIGNATURE_COLUMNS],
  whole: [...PRICE_COLUMNS, ...SIGNATURE_COLUMNS, { name: 'signed_prices', kind: 'json' }],
};
