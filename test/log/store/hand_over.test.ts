import { test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { openStore } from '../../../src/log/store/store.js';
import { FakeClock } from '../../clock/fake_clock.js';
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
  let handingOver: Promise<void> | undefined;
  old.onTakeOver(() => {
    handingOver = old.handOver();
  });
  const next = await openStore({ ...options, takeOver: true });
  await handingOver;
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

test('what a store writes while the next one already reads is all there, also when segments are moved', async (t) => {
  const clock = new FakeClock(atSecond(START_S));
  const asset = sampleAsset(0);
  const options = storeOptions(t.testdir(), { assets: [asset], clock });
  const old = await openStore(options);
  let count = 0;
  const append = () => {
    // Each commit begins a segment, and the one before it is moved into its files.
    clock.timeNs = atSecond(START_S + ++count * 3_600);
    appendTo(old, sampleAggregate(asset, options.publishers, units(count), clock.nowNs()));
    return old.durable();
  };
  for (let i = 0; i < 20; i++) await append();
  let isAsked = false;
  old.onTakeOver(() => {
    isAsked = true;
  });
  const opening = openStore({ ...options, takeOver: true });
  do await append();
  while (!isAsked);
  for (let i = 0; i < 3; i++) await append();
  const last = append();
  await old.handOver();
  await last;
  const next = await opening;
  t.same(next.health(), { ok: true });
  t.ok(next.isClean);
  t.equal(latestIn(next, asset)?.price, units(count));
  const candles = next.history(asset, '60', 0, START_S * 2, 10_000);
  t.match(candles, { c: Array.from({ length: count }, (_, i) => i + 1) });
  await next.close();
  await old.close();
});
