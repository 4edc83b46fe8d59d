import { test } from 'tap';
import { appendTo, latestIn } from '../../scripts/load/store_records.js';
import { openStore } from '../../src/store/store.js';
import {
  atSecond,
  pricesIn,
  START_S,
  sampleAggregate,
  sampleAsset,
  samplePublisher,
  storeOptions,
  units,
} from './sample.js';

test('a store that was handed over writes no more, is read on, and hears when the next one serves', async (t) => {
  const asset = sampleAsset(0);
  const publishers = [samplePublisher(0)];
  const options = storeOptions(t.testdir(), { assets: [asset], publishers });
  const aggregate = (price: number) =>
    sampleAggregate(asset, publishers, units(price), atSecond(START_S + price));

  const old = await openStore(options);
  const events: string[] = [];
  appendTo(old, aggregate(1));
  const handedOver = new Promise<void>((resolve, reject) => {
    old.onTakeOver(() => {
      old.handOver().then(resolve, reject);
    });
  });
  const next = await openStore({ ...options, takeOver: true });
  await handedOver;
  t.equal(next.isHandedOver, true);
  t.same(latestIn(next, asset), aggregate(1), 'all that waited was written before');
  const told = old.successorServes().then(() => events.push('told'));

  appendTo(old, aggregate(2));
  await t.rejects(old.durable(), /closed/);
  appendTo(next, aggregate(3));
  appendTo(next, aggregate(4));
  await next.durable();
  await t.rejects(openStore(options), /in use/);

  events.push('serves');
  next.tellServing();
  await told;
  t.same(events, ['serves', 'told']);
  await old.close();
  await next.close();

  const later = await openStore(options);
  const prices = await pricesIn(options.dir);
  t.notOk(prices.includes(units(2)), 'what was recorded after the hand-over is on no disk');
  t.ok(prices.includes(units(3)));
  t.same(latestIn(later, asset), aggregate(4));
  await later.close();
});

test('a store that waits for the next one to serve hears when that one ends instead', async (t) => {
  const options = storeOptions(t.testdir(), { assets: [sampleAsset(0)] });
  const old = await openStore(options);
  old.onTakeOver(() => void old.handOver());
  const next = await openStore({ ...options, takeOver: true });
  const told = old.successorServes();
  await next.close();
  await told;
  await old.close();
  const later = await openStore({ ...options, takeOver: true });
  t.equal(later.isHandedOver, false, 'nobody has the folder');
  await later.close();
});
