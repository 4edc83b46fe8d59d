import { test } from 'tap';
import { runHousekeeping } from '../../src/store/housekeeping.js';
import type { OpenTables } from '../../src/store/open_tables.js';
import type { AssetSeries } from '../../src/store/series.js';

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
