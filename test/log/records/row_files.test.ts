import { test } from 'tap';
import { csvHead, csvLine } from '../../../src/log/records/csv_rows.js';
import { ROW_COLUMNS } from '../../../src/log/records/row_columns.js';

test('a CSV line has every digit, and quotes where they are needed', async (t) => {
  const columns = ROW_COLUMNS.price;
  t.equal(csvHead(columns), 'signed_at,timestamp,price,asset_id,signature_type,trigger');
  const line = (price: bigint, symbol: string) =>
    csvLine(columns, [1_772_460_000_123_456_789n, 1n, price, symbol, 'evm', 'clock']);
  t.equal(
    line(97_123_450_000_000_000_000_001n, 'BTCUSD'),
    '1772460000123456789,1,97123.450000000000000001,BTCUSD,evm,clock',
  );
  t.match(line(0n, 'A'), ',0.000000000000000000,A,');
  t.match(line(-5n, 'A'), ',-0.000000000000000005,A,');
  t.match(line(-(10n ** 18n), 'A"B,C'), ',-1.000000000000000000,"A""B,C",');
  const last = csvLine(ROW_COLUMNS.whole, [1n, 1n, 1n, 'A', 'evm', 'clock', ...new Array(11)]);
  t.match(last, /clock,,,,,,,,,,,$/);
});
