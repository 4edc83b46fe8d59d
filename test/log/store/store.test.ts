import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { appendTo, endIn, latestIn } from '../../../scripts/load/store_records.js';
import { openStore } from '../../../src/log/store/store.js';
import type { PublisherPrice } from '../../../src/model/signed_price.js';
import {
  atSecond,
  putInputs,
  START_S,
  sampleAggregate,
  sampleAsset,
  samplePublisher,
  seenOf,
  storeOptions,
  units,
} from './sample.js';

test('an acknowledged aggregate and input are there after a restart, to the last character', async (t) => {
  const dir = t.testdir();
  const stark = sampleAsset(1, { signatureType: 'stark', aggregation: 'weighted average' });
  const assets = [sampleAsset(0), stark];
  const publishers = [
    samplePublisher(0),
    samplePublisher(1),
    samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 7) }),
  ];
  const options = storeOptions(dir, { assets, publishers });
  const store = await openStore(options);
  t.equal(latestIn(store, assets[0]!), undefined);
  const evmAggregate = sampleAggregate(
    assets[0]!,
    publishers.slice(0, 2),
    units(-42),
    atSecond(START_S, 123n),
  );
  const starkAggregate = sampleAggregate(stark, publishers.slice(2), units(7), atSecond(START_S, 456_789n));
  const inputs = [...evmAggregate.inputs, ...starkAggregate.inputs];
  appendTo(store, evmAggregate);
  appendTo(store, starkAggregate);
  putInputs(store, evmAggregate);
  putInputs(store, starkAggregate);
  t.equal(latestIn(store, stark), starkAggregate, 'read before it is written');
  await store.durable();
  t.same(store.health(), { ok: true });
  await store.close();

  const again = await openStore(options);
  t.strictSame(latestIn(again, assets[0]!), evmAggregate);
  t.strictSame(latestIn(again, stark), starkAggregate);
  const stored = [...again.inputs()];
  t.strictSame(sortedByKey(stored.map(({ input }) => input)), sortedByKey(inputs));
  for (const { input, seen } of stored) t.strictSame(seen, seenOf(input));
  await again.close();
});

test('a price that ended stays ended after a restart', async (t) => {
  const options = storeOptions(t.testdir());
  const asset = options.assets[0]!;
  const store = await openStore(options);
  appendTo(store, sampleAggregate(asset, options.publishers, units(1), atSecond(START_S)));
  endIn(store, asset, atSecond(START_S, 5n));
  await store.close();
  const again = await openStore(options);
  t.equal(latestIn(again, asset), undefined);
  t.same(again.history(asset, '1', 0, START_S + 60, 10), {
    t: [START_S],
    o: [1],
    h: [1],
    l: [1],
    c: [1],
  });
  await again.close();
});

test('a changed catalogue: records are found by symbol, not by index', async (t) => {
  const options = storeOptions(t.testdir());
  const [first, second] = [options.assets[0]!, options.assets[1]!];
  const store = await openStore(options);
  const aggregate = sampleAggregate(second, options.publishers, units(5), atSecond(START_S));
  appendTo(store, sampleAggregate(first, options.publishers, units(4), atSecond(START_S)));
  appendTo(store, aggregate);
  putInputs(store, aggregate);
  await store.close();

  const moved = sampleAsset(0, { symbol: second.symbol });
  const again = await openStore({ ...options, assets: [moved] });
  t.strictSame(latestIn(again, moved), aggregate);
  t.same(
    [...again.inputs()].map(({ asset, key }) => [asset.symbol, key]),
    options.publishers.map(({ key }) => [second.symbol, key]),
    'the inputs of configured assets alone',
  );
  const returned = sampleAsset(1, { symbol: first.symbol });
  again.reconfigure({ ...options, assets: [moved, returned] });
  t.equal(latestIn(again, returned)?.price, units(4), 'an asset that comes back finds its records');
  await again.close();
});

test('a process that was killed left aggregates that may be missing, and one that stopped did not', async (t) => {
  const dir = t.testdir();
  const options = storeOptions(join(dir, 'store'));
  const store = await openStore(options);
  t.ok(store.isClean, 'a new folder');
  appendTo(store, sampleAggregate(options.assets[0]!, options.publishers, units(1), atSecond(START_S)));
  await store.durable();
  cpSync(options.dir, join(dir, 'killed'), { recursive: true, filter: (path) => !path.endsWith('.sock') });
  putInputs(store, sampleAggregate(options.assets[0]!, options.publishers, units(1), atSecond(START_S)));
  await store.close();
  const isClean = async (name: string) => {
    const again = await openStore({ ...options, dir: join(dir, name) });
    await again.close();
    return again.isClean;
  };
  t.same([await isClean('store'), await isClean('killed'), await isClean('killed')], [true, false, true]);
});

test('durable resolves for all callers of a turn, and at once when no change waits', async (t) => {
  const options = storeOptions(t.testdir());
  const store = await openStore(options);
  await store.durable();
  putInputs(
    store,
    sampleAggregate(options.assets[0]!, [options.publishers[0]!], units(1), atSecond(START_S)),
  );
  await Promise.all([store.durable(), store.durable(), store.durable()]);
  await store.close();
  await t.rejects(store.durable(), /closed/);
});

function sortedByKey(inputs: Iterable<PublisherPrice>): PublisherPrice[] {
  return [...inputs].sort((a, b) => a.wire.publisherKey.localeCompare(b.wire.publisherKey));
}
