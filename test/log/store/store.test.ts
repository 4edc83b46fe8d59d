import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { openStore } from '../../../src/log/store/store.js';
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
  const publishers = [samplePublisher(0), samplePublisher(1)];
  const starkPublisher = samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 7) });
  const options = storeOptions(dir, { assets, publishers: [...publishers, starkPublisher] });
  const store = await openStore(options);
  t.equal(latestIn(store, assets[0]!), undefined);
  const evmAggregate = sampleAggregate(assets[0]!, publishers, units(-42), atSecond(START_S, 123n));
  const starkAggregate = sampleAggregate(stark, [starkPublisher], units(7), atSecond(START_S, 456_789n));
  for (const aggregate of [evmAggregate, starkAggregate]) {
    appendTo(store, aggregate);
    putInputs(store, aggregate);
  }
  t.equal(latestIn(store, stark), starkAggregate, 'read before it is written');
  await store.durable();
  t.same(store.health(), { ok: true });
  await store.close();

  const again = await openStore(options);
  t.strictSame(latestIn(again, assets[0]!), evmAggregate);
  t.strictSame(latestIn(again, stark), starkAggregate);
  const stored = [...again.inputs()];
  t.strictSame(
    new Set(stored.map(({ input }) => input)),
    new Set([...evmAggregate.inputs, ...starkAggregate.inputs]),
  );
  for (const { input, seen } of stored) t.strictSame(seen, seenOf(input));
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
