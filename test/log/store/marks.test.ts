import { test } from 'tap';
import { appendTo } from '../../../scripts/load/store_records.js';
import { openStore, type Store } from '../../../src/log/store/store.js';
import type { TimeNs } from '../../../src/model/time.js';
import {
  atSecond,
  START_S,
  sampleAggregate,
  sampleAsset,
  samplePublisher,
  storeOptions,
  units,
} from './sample.js';

function write(store: Store, number: number, timeNs: bigint): Promise<boolean> {
  return new Promise((resolve) => store.marks.write('a kind', number, timeNs as TimeNs, resolve));
}

test('a mark is there after a restart, and the later one wins', async (t) => {
  const options = storeOptions(t.testdir(), {});
  const store = await openStore(options);
  t.equal(store.marks.read('a kind', 7), undefined);
  const written = [write(store, 7, 1n), write(store, 7, 2n ** 62n + 1n), write(store, 8, 5n)];
  t.equal(store.marks.read('a kind', 7), 2n ** 62n + 1n, 'read before it is on disk');
  t.same(await Promise.all(written), [true, true, true]);
  await store.close();
  const again = await openStore(options);
  t.equal(again.marks.read('a kind', 7), 2n ** 62n + 1n);
  t.equal(again.marks.read('a kind', 8), 5n);
  await again.close();
  t.equal(await write(again, 7, 9n), false, 'a closed store says that it is not on disk');
});

test('the newest second is the one that the folder had when it was opened', async (t) => {
  const asset = sampleAsset(0);
  const publisher = samplePublisher(0);
  const options = storeOptions(t.testdir(), { assets: [asset], publishers: [publisher] });
  const store = await openStore(options);
  t.equal(store.newestSecond, undefined);
  for (const second of [START_S, START_S + 5])
    appendTo(store, sampleAggregate(asset, [publisher], units(1), atSecond(second, 1n)));
  await store.close();
  const again = await openStore(options);
  t.equal(again.newestSecond, START_S + 5);
  await again.close();
});
