import { toHex } from '../../model/hex.js';
import { PRICE_DECIMALS } from '../../wire/quantized_price.js';
import type { CellValue, RowColumn, RowValues } from './row_columns.js';

/** Returns the first line of a CSV file (RFC 4180). */
export function csvHead(columns: readonly RowColumn[]): string {
  return columns.map(({ name }) => name).join();
}

/** Returns a line of a CSV file. Prices have a decimal point and all decimals; times are integers. */
export function csvLine(columns: readonly RowColumn[], values: RowValues): string {
  return columns.map(({ kind }, i) => csvText(kind, values[i])).join();
}

function csvText(kind: RowColumn['kind'], value: CellValue): string {
  if (value === undefined) return '';
  if (kind === 'price') return decimalText(value as bigint);
  const text = typeof value === 'object' ? toHex(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a price with a decimal point and all decimals. */
export function decimalText(price: bigint): string {
  const digits = String(price < 0n ? -price : price).padStart(PRICE_DECIMALS + 1, '0');
  const point = digits.length - PRICE_DECIMALS;
  return `${price < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}
