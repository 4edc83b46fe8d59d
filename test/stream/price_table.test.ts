import { test } from 'tap';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { QUALITY } from '../model/sample.js';

const first = 0 as AssetIndex;
const second = 1 as AssetIndex;

test('setting the same price is not a change', async (t) => {
  const table = new PriceTable([4, 9]);
  t.equal(table.price(first), undefined);
  t.equal(table.set(first, 5n as Price, QUALITY), true);
  t.equal(table.set(first, 5n as Price, QUALITY), false);
  t.equal(table.sequence, 1);
  t.equal(table.set(second, 0n as Price, QUALITY), true, 'zero is a price');
  t.equal(table.set(first, -5n as Price, QUALITY), true);
  t.same([...table.changedAt], [3, 2]);
  t.same([...table.live], [1, 1]);
  t.equal(table.price(first), -5n);
});

test('a new quality of the same price is not a change, and counts from then on', async (t) => {
  const table = new PriceTable([4, 9]);
  table.set(first, 5n as Price, QUALITY);
  const later = { ...QUALITY, newestNs: QUALITY.newestNs + 1n };
  t.equal(table.set(first, 5n as Price, later), false);
  t.equal(table.quality(first), later);
  t.equal(table.sequence, 1);
});

test('an asset that ended is not live, and its next price is a change even when it is the old one', async (t) => {
  const table = new PriceTable([4, 9]);
  table.set(first, 5n as Price, QUALITY);
  table.clear(first);
  t.equal(table.live[first], 0);
  t.equal(table.price(first), undefined);
  t.equal(table.set(first, 5n as Price, QUALITY), true);
  t.equal(table.live[first], 1);
  t.equal(table.changedAt[first], 2);
});

test('with more assets or other IDs the prices stay, under the new IDs', async (t) => {
  const table = new PriceTable([4, 9]);
  table.set(first, 5n as Price, QUALITY);
  table.resize([9, 4, 7]);
  t.same([...table.live], [1, 0, 0]);
  t.equal(table.price(first), 5n);
  t.equal(table.closedText(first), ',{"id":9,"v":"5"}');
  t.equal(table.stale[first], 1);
  table.encode(first);
  t.equal(table.stale[first], 0);
  t.equal(table.entries.readUInt16BE(0), 9);
  t.equal(table.entries.readBigUInt64BE(10), 5n);
  t.equal(table.set(2 as AssetIndex, 1n as Price, QUALITY), true);
  t.equal(table.changedAt[2], 2);
});
