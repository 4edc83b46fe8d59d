import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { decimalText } from '../../../src/log/records/csv_rows.js';
import { ParquetRows } from '../../../src/log/records/parquet_rows.js';
import { type CellValue, ROW_COLUMNS } from '../../../src/log/records/row_columns.js';
import { toHex } from '../../../src/model/hex.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../../src/model/price.js';
import { NEEDS_PYTHON, readWithPython } from '../../python_rows.js';

const COLUMNS = ROW_COLUMNS.whole;
const GROUP_ROWS = 700;
const ROWS = 2 * GROUP_ROWS + 1;
const DECIMAL_MAX = 10n ** 38n - 1n;

test('other programs read each value of each column, absent values too', NEEDS_PYTHON, async (t) => {
  const rows = new ParquetRows(COLUMNS, GROUP_ROWS, 'decimal');
  const parts: Uint8Array[] = [];
  const expected: (string | null)[][] = [];
  for (let i = 0; i < ROWS; i++) {
    const values = COLUMNS.map(({ kind }, column) => sampleValue(kind, i, column));
    rows.add(values);
    expected.push(values.map(shown));
    if (i % 100 === 0) parts.push(rows.take());
  }
  parts.push(rows.end());
  const path = join(t.testdir(), 'rows.parquet');
  writeFileSync(path, Buffer.concat(parts));
  const read = await readWithPython([path]);
  t.equal(read.length, 2);
  for (const { library, rows: found } of read) t.same(found, expected, library);
});

test('prices with more than 38 digits are text, to the last digit', NEEDS_PYTHON, async (t) => {
  const prices = [PRICE_MAX, PRICE_MIN, (DECIMAL_MAX + 1n) as Price, -5n as Price, 0n as Price];
  const rows = new ParquetRows(ROW_COLUMNS.price, GROUP_ROWS, 'text');
  for (const price of prices) rows.add([1n, 1n, price, 'A', 'evm', 'clock']);
  const path = join(t.testdir(), 'long.parquet');
  writeFileSync(path, rows.end());
  const read = await readWithPython([path]);
  t.equal(read.length, 2);
  for (const { library, types, rows: found } of read) {
    t.match(types['price'], /^(?:string|VARCHAR)$/, library);
    t.same(
      found.map(([, , price]) => price),
      prices.map(decimalText),
      library,
    );
    t.equal(found[0]?.[2], '170141183460469231731.687303715884105727');
  }
  t.match(
    String(readFileSync(path)),
    /tickseal\.price.*decimal text, because a price has more than 38 digits/,
  );
});

test('a value that its column cannot hold is refused', async (t) => {
  const adding = (first: CellValue, price: CellValue) => {
    const rows = new ParquetRows(ROW_COLUMNS.price, 1, 'decimal');
    return () => rows.add([first, 1n, price, 'A', 'evm', 'clock']);
  };
  t.doesNotThrow(adding(2n ** 63n - 1n, -DECIMAL_MAX));
  t.throws(adding(2n ** 63n, 1n), { name: 'RangeError', message: /INT64/ });
  for (const price of [DECIMAL_MAX + 1n, PRICE_MAX, PRICE_MIN])
    t.throws(adding(1n, price), { name: 'RangeError', message: /price has more than 38 digits/ });
});

/** Returns a value of a column. The columns of texts and digits have no, some or only absent values, and few or many distinct texts. */
function sampleValue(kind: (typeof COLUMNS)[number]['kind'], row: number, column: number): CellValue {
  if (kind === 'time') return 1_772_460_000_123_456_789n + BigInt(row * row);
  if (kind === 'price') return row === 5 ? DECIMAL_MAX : row === 6 ? -DECIMAL_MAX : BigInt(row - 300) ** 9n;
  const isAbsent = column % 4 === 1 ? true : column % 4 === 2 ? row % 50 < 9 : row % 7 === column;
  if (isAbsent) return undefined;
  if (kind === 'text' || kind === 'json') return column % 2 === 0 ? `ü${row >> 1}` : `text ${row % 3}`;
  return row % 11 === 0 ? `0x${row}` : Buffer.alloc(row % 3 === 0 ? 32 : 31, row + column);
}

function shown(value: CellValue): string | null {
  if (value === undefined) return null;
  return typeof value === 'object' ? toHex(value) : String(value);
}
