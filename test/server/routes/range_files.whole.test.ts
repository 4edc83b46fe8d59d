import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { withoutInputs } from '../../../src/log/past/kept_line.js';
import type { LineEntry } from '../../../src/log/past/past_entry.js';
import type { Price } from '../../../src/model/price.js';
import { rangeWriter } from '../../../src/server/routes/range_writer.js';
import { aggregatesOf, HOUR_START_NS, textOf } from '../../log/past/sample_past.js';
import { NEEDS_PYTHON, readWithPython } from '../../python_rows.js';

const ROWS = 1_200;

test('Parquet and CSV files are read by pyarrow and duckdb with exact digits', NEEDS_PYTHON, async (t) => {
  const prices = [1n, -1n, 0n, 97_123_450_000_000_000_000_001n, 10n ** 38n - 1n, -(10n ** 38n) + 1n];
  const aggregates = [...aggregatesOf('BTCUSD', HOUR_START_NS, ROWS)].map((one, i) => ({
    ...one,
    price: (prices[i] ?? one.price) as Price,
  }));
  const entries = aggregates.map((aggregate, i): LineEntry => {
    const line = i % 2 === 0 ? textOf(aggregate) : withoutInputs(textOf(aggregate));
    return { kind: 'priced', timeNs: aggregate.signedAtNs, isCarried: false, line };
  });
  const dir = t.testdir();
  const paths = (['parquet', 'csv'] as const).map((format) => {
    const writer = rangeWriter(format, 'whole', 'decimal');
    const parts: Uint8Array[] = [];
    for (const entry of entries) {
      writer.add(entry);
      if (writer.bytes > 50_000) parts.push(writer.take());
    }
    const path = join(dir, `rows.${format}`);
    writeFileSync(path, Buffer.concat([...parts, writer.end()]));
    return path;
  });
  const files = await readWithPython(paths);
  t.match(
    files.map(({ library, types: { signed_at, timestamp, price, r } }) => [
      library,
      signed_at,
      timestamp,
      price,
      r,
    ]),
    [
      ['pyarrow', 'int64', 'int64', 'decimal128(38, 18)', 'string'],
      ['duckdb', 'BIGINT', 'BIGINT', 'DECIMAL(38,18)', 'VARCHAR'],
      ['duckdb', 'BIGINT', 'BIGINT', 'DECIMAL(38,18)', 'VARCHAR'],
    ],
  );
  const expected = aggregates.map(({ signedAtNs, timestampNs, price }, i) => [
    ...[signedAtNs, timestampNs, price].map(String),
    i % 2 === 0,
  ]);
  for (const { library, path, rows } of files)
    t.same(
      rows.map((row) => [...row.slice(0, 3), row.at(-1) !== null]),
      expected,
      `${path}, ${library}`,
    );
});
