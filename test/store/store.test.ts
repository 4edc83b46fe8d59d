import { test } from 'tap';
import { appendTo, endIn, latestIn } from '../../scripts/load/store_records.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import { openStore } from '../../src/store/store.js';
import { FakeClock } from '../clock/fake_clock.js';
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
  t.equal(store.recent(stark, START_S)?.aggregate, starkAggregate);
  await store.durable();
  t.same(store.health(), { ok: true });
  await store.close();

  const again = await openStore(options);
  t.strictSame(latestIn(again, assets[0]!), evmAggregate);
  t.strictSame(latestIn(again, stark), starkAggregate);
  t.strictSame(again.recent(stark, START_S)?.aggregate, starkAggregate);
  const stored = [...again.inputs()];
  t.strictSame(sortedByKey(stored.map(({ input }) => input)), sortedByKey(inputs));
  for (const { input, seen } of stored) t.strictSame(seen, seenOf(input));
  await again.close();
});

test('recent returns the aggregate in force at the end of a second', async (t) => {
  const options = storeOptions(t.testdir());
  const [asset, other] = [options.assets[0]!, options.assets[1]!];
  let store = await openStore(options);
  const first = sampleAggregate(asset, options.publishers, units(1), atSecond(START_S, 100n));
  const second = sampleAggregate(asset, options.publishers, units(2), atSecond(START_S, 999_999_999n));
  const third = sampleAggregate(asset, options.publishers, units(3), atSecond(START_S + 3));
  const back = sampleAggregate(asset, options.publishers, units(4), atSecond(START_S + 20));
  for (const aggregate of [first, second, third]) appendTo(store, aggregate);
  endIn(store, asset, atSecond(START_S + 10));
  t.equal(latestIn(store, asset), undefined, 'a price that has ended is not the latest');
  appendTo(store, back);

  for (const state of ['waiting', 'on disk', 'after a restart']) {
    t.equal(store.recent(asset, START_S - 1)?.aggregate, undefined, `${state}: before the first`);
    t.strictSame(store.recent(asset, START_S)?.aggregate, second, `${state}: the last one of the second`);
    t.strictSame(store.recent(asset, START_S + 2)?.aggregate, second, `${state}: still in force`);
    t.strictSame(store.recent(asset, START_S + 3)?.aggregate, third, `${state}: the next one`);
    t.strictSame(store.recent(asset, START_S + 9)?.aggregate, third, `${state}: until the price ends`);
    t.equal(store.recent(asset, START_S + 10)?.aggregate, undefined, `${state}: a dead price is not served`);
    t.equal(store.recent(asset, START_S + 19)?.aggregate, undefined, `${state}: nor while it stays dead`);
    t.strictSame(store.recent(asset, START_S + 20)?.aggregate, back, `${state}: it comes back`);
    t.strictSame(latestIn(store, asset), back);
    t.equal(store.recent(other, START_S)?.aggregate, undefined);
    if (state === 'waiting') await store.durable();
    if (state === 'on disk') {
      await store.close();
      store = await openStore(options);
    }
  }
  await store.close();
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
  t.equal(again.recent(asset, START_S)?.aggregate, undefined);
  t.same(again.history(asset, '1', 0, START_S + 60, 10), {
    t: [START_S],
    o: [1],
    h: [1],
    l: [1],
    c: [1],
  });
  await again.close();
});

test('records older than the window go, the one in force at its start stays', async (t) => {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(t.testdir(), { clock });
  const [fast, slow] = [options.assets[0]!, options.assets[1]!];
  const store = await openStore(options);
  appendTo(store, sampleAggregate(slow, options.publishers, units(9), atSecond(START_S)));
  for (let s = 0; s < 2_000; s += 10) {
    clock.timeNs = atSecond(START_S + s);
    appendTo(store, sampleAggregate(fast, options.publishers, units(s + 1), clock.nowNs()));
    await store.durable();
  }
  const nowS = START_S + 1_990;
  t.equal(store.recent(slow, nowS)?.aggregate.price, units(9), 'signed long ago and still in force');
  t.equal(store.recent(fast, nowS - 605)?.aggregate.price, units(nowS - START_S - 610 + 1));
  t.equal(store.recent(fast, START_S)?.aggregate, undefined, 'gone');
  await store.close();
  const again = await openStore(options);
  t.equal(again.recent(slow, nowS)?.aggregate.price, units(9));
  t.equal(again.recent(fast, nowS - 600)?.aggregate.price, units(nowS - START_S - 600 + 1));
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
