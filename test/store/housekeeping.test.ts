import { test } from 'tap';
import { appendTo } from '../../scripts/load/store_records.js';
import { runHousekeeping } from '../../src/store/housekeeping.js';
import type { OpenTables } from '../../src/store/open_tables.js';
import type { AssetSeries } from '../../src/store/series.js';
import { openStore } from '../../src/store/store.js';
import { FakeClock } from '../clock/fake_clock.js';
import { atSecond, START_S, sampleAggregate, storeOptions, units } from './sample.js';

test('with many assets and few commits no more records are kept than come in', async (t) => {
  const assets = 5_000;
  const keptSeconds = 10;
  const all = Array.from({ length: assets }, (_, i) => ({
    assetKey: `A${i}`,
    seconds: [] as number[],
    unsealedDays: [],
  })) as unknown as AssetSeries[];
  let waiting = 0;
  let removed = 0;
  const tables = {
    seconds: {
      remove: () => removed++,
      get waiting() {
        return waiting;
      },
    },
  } as unknown as OpenTables;
  const perCommit = 3;
  for (let second = 1; second <= 60; second++) {
    for (const { seconds } of all) seconds.push(second);
    waiting += assets;
    if (second % perCommit !== 0) continue;
    runHousekeeping(all, { second: second - keptSeconds, day: 0 }, tables, () => {});
    waiting = 0;
  }
  t.same(
    all.filter(({ seconds }) => seconds.length > keptSeconds + 1),
    [],
  );
  t.equal(removed, assets * (60 - keptSeconds - 1));
});

test('a start leaves old records in place', async (t) => {
  const dir = t.testdir();
  const asset = storeOptions(dir).assets[0]!;
  const recentAfterCommit = async (second: number, laterMs: number) => {
    const clock = new FakeClock(atSecond(START_S + second));
    const store = await openStore({ ...storeOptions(dir, { clock }), laterMs });
    appendTo(store, sampleAggregate(asset, [], units(second + 1), atSecond(START_S + second)));
    await store.durable();
    const price = store.recent(asset, START_S)?.aggregate.price;
    await store.close();
    return price;
  };
  t.equal(await recentAfterCommit(0, 0), units(1));
  t.equal(await recentAfterCommit(1, 0), units(1));
  t.equal(await recentAfterCommit(2_000, 1e9), units(1), 'during a start');
  t.equal(await recentAfterCommit(2_001, 0), undefined, 'after a start');
});
