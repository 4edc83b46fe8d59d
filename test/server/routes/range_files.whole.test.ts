import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'tap';
import type { Price } from '../../../src/model/price.js';
import type { PricedEntry } from '../../../src/past/kept_entry.js';
import { rangeWriter } from '../../../src/server/routes/range_writer.js';
import { aggregatesOf, HOUR_START_NS, pastOptionsOf } from '../../past/sample_past.js';

// Tests that the readers of other languages read the files with exact digits. TICKSEAL_PYTHON names a Python that has these
// packages.

const PYTHON = process.env['TICKSEAL_PYTHON'] ?? 'python3';
const run = promisify(execFile);

/** Prints the types of the first columns and each row, by both libraries. */
const READ = `
import sys, pyarrow.parquet as pq, duckdb
table = pq.read_table(sys.argv[1])
print(*[str(table.schema.field(name).type) for name in ('signed_at', 'timestamp', 'price', 'r', 'signed_prices')])
names = 'signed_at, timestamp, price, asset_id, trigger, r, msg_hash, signed_prices'
for row in table.select([one.strip() for one in names.split(',')]).to_pylist():
    print('arrow', *row.values())
for path in sys.argv[1:]:
    for row in duckdb.sql(f"select {names.replace('price,', 'price::decimal(38,18) as price,', 1)} from '{path}' order by signed_at").fetchall():
        print('duckdb', *row)
`;

async function isMissing(): Promise<string | undefined> {
  try {
    await run(PYTHON, ['-c', 'import pyarrow, duckdb']);
    return undefined;
  } catch {
    return `${PYTHON} has no pyarrow and duckdb`;
  }
}

test('Parquet and CSV files are read by pyarrow and duckdb with exact digits', async (t) => {
  const reason = await isMissing();
  if (reason !== undefined) {
    t.pass(`skipped: ${reason}`);
    return;
  }
  const prices = [1n, -1n, 0n, 97_123_450_000_000_000_000_001n, 10n ** 38n - 1n, -(10n ** 38n) + 1n];
  const { shown } = pastOptionsOf('');
  const entries = [...aggregatesOf('BTCUSD', HOUR_START_NS, 1_200)].map((one, i): PricedEntry => {
    const aggregate = { ...one, price: (prices[i] ?? one.price) as Price };
    return {
      kind: 'priced',
      timeNs: aggregate.signedAtNs,
      isCarried: false,
      aggregate,
      hasInputs: i % 2 === 0,
      shown: shown(aggregate.symbol, aggregate.algorithm),
    };
  });
  const dir = t.testdir();
  const paths = (['parquet', 'csv'] as const).map((format) => {
    const writer = rangeWriter(format, 'whole');
    const parts: Uint8Array[] = [];
    for (const entry of entries) {
      writer.add(entry);
      if (writer.bytes > 50_000) parts.push(writer.take());
    }
    const path = join(dir, `rows.${format}`);
    writeFileSync(path, Buffer.concat([...parts, writer.end()]));
    return path;
  });
  const { stdout } = await run(PYTHON, ['-c', READ, ...paths], { maxBuffer: 64 * 1024 * 1024 });
  const [types, ...lines] = stdout.split('\n').slice(0, -1);
  t.equal(types, 'int64 int64 decimal128(38, 18) string string');
  const expected = entries.map(({ aggregate }) => {
    const { signedAtNs, timestampNs, price } = aggregate;
    return `${signedAtNs} ${timestampNs} ${price}`;
  });
  for (const [first, library] of [
    [0, 'arrow'],
    [1_200, 'duckdb'],
    [2_400, 'duckdb'],
  ] as const) {
    const read = lines.slice(first, first + 1_200).map((line) => {
      const [name, signedAt, timestamp, price, , , r, hash, ...inputs] = line.split(' ');
      const isWhole =
        name === library &&
        /^0x[0-9a-f]{64} 0x[0-9a-f]{64}$/.test(`${r} ${hash}`) &&
        /^(?:None|\[\{.*\}\])$/.test(inputs.join(' '));
      return isWhole ? `${signedAt} ${timestamp} ${scaled(price!)}` : line;
    });
    t.same(read, expected);
  }
});

/** Reads a decimal text with 18 decimals, including Python's notation with an exponent. */
function scaled(text: string): bigint {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/.exec(text)!;
  const size = BigInt(whole! + fraction) * 10n ** BigInt(18 - fraction.length + Number(exponent));
  return sign === '-' ? -size : size;
}
