import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { test } from 'tap';
import { findPageDamage } from '../../../src/store/lmdb/page_tree.js';

const PAGE_BYTES = 4096;
const HEADER_BYTES = 24;
const ENTRIES = 500;
const BIG_BYTES = 3 * PAGE_BYTES;

/** Writes a file whose tree has a branch, leaves and a value of several pages. */
async function writtenFile(dir: string): Promise<string> {
  const root = open({ path: dir, noSubdir: false, encoding: 'binary' });
  for (let i = 0; i < ENTRIES; i++) await root.put(`key ${1_000 + i}`, Buffer.alloc(100, i));
  await root.put('value of several pages', Buffer.alloc(BIG_BYTES, 1));
  await root.close();
  return join(dir, 'data.mdb');
}

/** Returns the offset of the newest root, and the offset of the tree that names the root. */
function placesOf(file: Buffer): { tree: number; root: number } {
  const transaction = (page: number) => file.readBigUInt64LE(page * PAGE_BYTES + HEADER_BYTES + 128);
  const meta = transaction(0) > transaction(1) ? 0 : PAGE_BYTES;
  const tree = meta + HEADER_BYTES + 24 + 48;
  return { tree, root: Number(file.readBigUInt64LE(tree + 40)) * PAGE_BYTES };
}

test('damage of a tree is named', async (t) => {
  const path = await writtenFile(t.testdir());
  const whole = readFileSync(path);
  t.equal(findPageDamage(path), undefined);
  const { tree, root } = placesOf(whole);
  t.equal(whole.readUInt16LE(root + 18), 1, 'the root is a branch');
  const entry = (index: number) => root + HEADER_BYTES + whole.readUInt16LE(root + HEADER_BYTES + 2 * index);
  const leaf = whole.readUInt32LE(entry(1)) * PAGE_BYTES;
  const last = leaf + HEADER_BYTES;
  const isOutOfOrder = /^the entries of page \d+ are out of order$/;
  const cases: [string, (file: Buffer) => void, RegExp][] = [
    ['swapped leaves', (file) => swap(file, entry(1), entry(2), 4), isOutOfOrder],
    ['swapped entries of a leaf', (file) => swap(file, last, last + 2, 2), isOutOfOrder],
    ['a leaf twice', (file) => file.copy(file, entry(1), entry(2), entry(2) + 4), /^page \d+ is used twice$/],
    ['another page', (file) => file.writeUInt32LE(9, leaf), /^page \d+ is damaged$/],
    ['a page beyond the end', (file) => file.writeUInt32LE(1e6, entry(1)), /^it has no page 1000000$/],
    [
      'a page whose last 32 bits are right',
      (file) => file.writeUInt16LE(1, entry(1) + 4),
      /^it has no page 4294\d{6}$/,
    ],
    ['a leaf too few levels down', (file) => file.writeUInt16LE(3, tree + 6), /^page \d+ is damaged$/],
    ['no level', (file) => file.writeUInt16LE(0, tree + 6), /^the depth of a tree is damaged$/],
    [
      'an entry too many',
      (file) => file.writeUInt32LE(9, tree + 32),
      /^it has 501 entries where 9 were counted$/,
    ],
    ['a key beyond its page', (file) => file.writeUInt16LE(5_000, entry(1) + 6), /^page \d+ is damaged$/],
  ];
  for (const [what, change, message] of cases) {
    const file = Buffer.from(whole);
    change(file);
    writeFileSync(path, file);
    t.match(findPageDamage(path), message, what);
  }
});

function swap(file: Buffer, a: number, b: number, bytes: number): void {
  const kept = Buffer.from(file.subarray(a, a + bytes));
  file.copy(file, a, b, b + bytes);
  kept.copy(file, b);
}
