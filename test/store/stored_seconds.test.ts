import { open } from 'lmdb';
import { test } from 'tap';
import { findPageDamage } from '../../src/store/lmdb/page_tree.js';
import { StoredSeconds } from '../../src/store/stored_seconds.js';

type Key = [string | number, string | number];

/** Writes keys in several commits, and collects them again. @returns the collected seconds, and the keys as lmdb reads them */
async function collected(dir: string, commits: readonly (readonly Key[])[]) {
  const root = open({ path: dir, noSubdir: false, encoding: 'binary' });
  const table = root.openDB<Buffer, Key>('seconds', { encoding: 'binary' });
  const other = root.openDB<Buffer, Key>('other', { encoding: 'binary' });
  await other.put([1, 'OTHER'], Buffer.alloc(10));
  for (const keys of commits)
    await root.batch(() => {
      for (const key of keys) table.put(key, Buffer.alloc(700));
    });
  const keys = [...table.getKeys()];
  await root.close();
  const stored = new StoredSeconds();
  findPageDamage(`${dir}/data.mdb`, undefined, new Map([['seconds', stored.note]]));
  const byAsset = stored.byAsset(keys.length);
  return { byAsset, keys };
}

function grouped(keys: readonly Key[]): Map<string, number[]> {
  const seconds = new Map<string, number[]>();
  for (const [second, assetKey] of keys)
    seconds.set(String(assetKey), [...(seconds.get(String(assetKey)) ?? []), Number(second)]);
  return seconds;
}

const START_S = 1_764_000_000;

test('the seconds are those that lmdb reads, in whatever order the pages are', async (t) => {
  // Every third second and asset comes in a later commit, so the pages are not in the order of the keys.
  const symbols = ['AAVEUSD', 'BTCUSD', 'BTCUSD stark', 'ETHUSD', 'X'];
  const all = Array.from({ length: 1_000 }, (_, i): Key => [START_S + Math.floor(i / 4), symbols[i % 5]!]);
  const commits = [0, 1, 2].map((turn) => all.filter((_, i) => (i * 7) % 3 === turn));
  const { byAsset, keys } = await collected(t.testdir(), commits);
  t.same(byAsset, grouped(keys));
  t.equal(byAsset?.size, symbols.length);
});

test('any second has its number', async (t) => {
  const seconds = [0, 1, 59, 2 ** 31, 2 ** 32 + 1, 1e12 + 7, 2 ** 53 - 1, 1.5];
  const { byAsset } = await collected(t.testdir(), [seconds.map((second): Key => [second, 'BTCUSD'])]);
  t.same(
    byAsset?.get('BTCUSD'),
    seconds.toSorted((a, b) => a - b),
  );
});

test('other keys are left to lmdb', async (t) => {
  const others: Key[] = [
    ['BTCUSD', 5],
    [-5, 'BTCUSD'],
    [5, 7],
    [5, 'Ä'],
    [5, '\u0001'],
    [5, ''],
  ];
  for (const other of others) {
    const { byAsset } = await collected(t.testdir(), [[[5, 'BTCUSD'], other]]);
    t.equal(byAsset, undefined, JSON.stringify(other));
  }
});

test('a table without keys has no seconds, and keys that were not read are missed', async (t) => {
  t.same(new StoredSeconds().byAsset(0), new Map());
  t.equal(new StoredSeconds().byAsset(1), undefined);
});
