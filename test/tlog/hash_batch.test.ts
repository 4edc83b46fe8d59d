import { test } from 'tap';
import { batchOf } from '../../src/tlog/batch_entry.js';
import { hashesOfBatch } from '../../src/tlog/hash_batch.js';

const hashOf = (first: number, last = 0) => Uint8Array.of(first, ...Array(30).fill(7), last);
const joined = (hashes: readonly Uint8Array[]) => Uint8Array.from(hashes.flatMap((hash) => [...hash]));
const entryOf = (hashes: readonly Uint8Array[]) =>
  batchOf({ epoch: 1n, batch: 5n, fromNs: 0n, toNs: 10n }, hashes);

test('the hashes of a batch are whole, sorted, unique, and those of its entry', async (t) => {
  const hashes = [hashOf(1), hashOf(2), hashOf(2, 9), hashOf(255)];
  t.same(hashesOfBatch(entryOf(hashes), joined(hashes)), hashes);
  t.same(hashesOfBatch(entryOf([]), new Uint8Array()), []);
  const refused = (list: readonly Uint8Array[], reason: RegExp, bytes = joined(list)) =>
    t.throws(() => hashesOfBatch(entryOf(list), bytes), reason);
  refused([hashOf(2), hashOf(1)], /hash 1 of a batch is not in order/);
  refused([hashOf(1), hashOf(1)], /hash 1 of a batch is not in order/);
  refused(hashes, /whole hashes/, joined(hashes).subarray(1));
  refused(hashes, /not those of its entry/, joined(hashes.slice(1)));
  refused([hashOf(1)], /not those of its entry/, hashOf(1, 1));
});
