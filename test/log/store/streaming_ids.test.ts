import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { IDS_FILE, StreamingIds } from '../../../src/log/store/streaming_ids.js';
import type { MappedAsset } from '../../../src/wire/taxonomy_statement.js';

const A: MappedAsset = { id: 1, symbol: 'BTCUSD', signatureType: 'evm' };
const B: MappedAsset = { id: 2, symbol: '日経225', signatureType: 'stark' };

test('an ID keeps its meaning under its taxonomy ID, also after it is gone', async (t) => {
  const dir = t.testdir();
  StreamingIds.read(dir).add(1, [A, B]);
  const ids = StreamingIds.read(dir);
  t.equal(ids.size, 2);
  t.same(ids.changedBy(1, [B]), []);
  const swapped = { ...B, id: 1 };
  t.same(ids.changedBy(1, [B, swapped]), [
    { at: 1, asset: swapped, before: { symbol: 'BTCUSD', signatureType: 'evm' } },
  ]);
  t.equal(ids.changedBy(1, [{ ...A, signatureType: 'stark' }]).length, 1, 'the signature type counts');
  t.same(ids.changedBy(2, [swapped]), [], 'another taxonomy ID begins a new list');
  t.same(ids.changedBy(1, [{ ...A, id: 3 }]), [], 'an asset may get another ID');
  ids.add(1, [{ ...A, id: 3 }]);
  ids.add(2, [swapped]);
  const later = StreamingIds.read(dir);
  t.equal(later.size, 4);
  t.equal(later.changedBy(1, [swapped, { ...B, id: 3 }]).length, 2);
  t.equal(later.changedBy(2, [A]).length, 1);
});

test('a damaged list is refused with a remedy', async (t) => {
  const dir = t.testdir();
  StreamingIds.read(dir).add(1, [A, B]);
  const file = join(dir, IDS_FILE);
  const whole = readFileSync(file, 'utf8');
  const remedy =
    /streaming_ids\.txt is damaged \(.+\): restore it from a backup, or raise service\.taxonomy_id/;
  for (let length = 0; length < whole.length; length += 7) {
    writeFileSync(file, whole.slice(0, length));
    t.throws(() => StreamingIds.read(dir), remedy, `the first ${length} characters`);
  }
  const bytes = readFileSync(file);
  writeFileSync(file, whole);
  for (let at = 0; at < bytes.length; at += 5) {
    const flipped = Buffer.from(whole);
    flipped[at]! ^= 1;
    writeFileSync(file, flipped);
    t.throws(() => StreamingIds.read(dir), /is damaged|has format/, `byte ${at}`);
  }
  writeFileSync(file, whole.replace('format 1', 'format 2'));
  t.throws(() => StreamingIds.read(dir), /has format 2, and this version of tickseal reads format 1/);
});
