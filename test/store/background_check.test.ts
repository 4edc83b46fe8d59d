import { test } from 'tap';
import { checkRecords, SMALL_RECORDS } from '../../src/store/background_check.js';
import type { OpenTables } from '../../src/store/open_tables.js';
import type { Key, RecordPart, StoredRecord } from '../../src/store/table.js';

/** Tables with one table of records. Reading a part of the table takes the given time. */
function tablesOf(damages: readonly (string | undefined)[], readMs: number): OpenTables {
  const records = damages.map(
    (damage, second): StoredRecord => ({ key: [second, 'BTCUSD'], bytes: 10, damage }),
  );
  const seconds = {
    recordCount: records.length,
    recordsOnDisk({ after, limit }: RecordPart) {
      const endMs = performance.now() + readMs;
      while (performance.now() < endMs);
      const from = after === undefined ? 0 : Number((after as Key)[0]) + 1;
      return records.slice(from, from + limit);
    },
  };
  return { seconds } as unknown as OpenTables;
}

test('a small folder is checked completely before it is used', async (t) => {
  const damages = Array.from({ length: 1_000 }, (_, i) => (i === 999 ? 'the last is damaged' : undefined));
  const found: string[] = [];
  await checkRecords(tablesOf(damages, 0), (reason) => found.push(reason)).ended;
  t.same(found, ['the last is damaged']);
});

test('the check of a large folder continues in turns, and finds the damage at the end', async (t) => {
  const damages = Array.from({ length: 1_000 }, (_, i) => (i === 950 ? 'a late one is damaged' : undefined));
  const found: string[] = [];
  // The timer of the check does not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  const check = checkRecords(tablesOf(damages, 20), (reason) => found.push(reason));
  t.same(found, [], 'the folder is used before the end of the check');
  await check.ended;
  t.same(found, ['a late one is damaged']);
});

test('a large folder is used before its check begins', async (t) => {
  const damages = Array.from({ length: SMALL_RECORDS + 1 }, (_, i) => (i === 0 ? 'damaged' : undefined));
  const found: string[] = [];
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  const check = checkRecords(tablesOf(damages, 0), (reason) => found.push(reason));
  t.same(found, []);
  await check.ended;
  t.same(found, ['damaged']);
});

test('a stopped check ends', async (t) => {
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  const found: string[] = [];
  const check = checkRecords(
    tablesOf(
      Array.from({ length: 10_000 }, () => undefined),
      20,
    ),
    (reason) => found.push(reason),
  );
  check.stop();
  await check.ended;
  t.same(found, []);
});
