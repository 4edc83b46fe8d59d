import { join } from 'node:path';
import { test } from 'tap';
import { DEMO_CATALOGUE } from '../../../src/cli/demo/demo_catalogue.js';
import { writePastCandles } from '../../../src/cli/demo/past_candles.js';
import { decodeCandles } from '../../../src/log/records/candle.js';
import { openStore } from '../../../src/log/store/store.js';
import { FakeClock } from '../../clock/fake_clock.js';

/** A Sunday. The stock market closed on Friday. */
const SUNDAY = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const DAY_MINUTES = 1_440;

test('a demo begins with 24 hours of each open market', async (t) => {
  const folder = t.testdir();
  const clock = new FakeClock();
  clock.timeNs = BigInt(SUNDAY) * 1_000_000n;
  const dir = join(folder, 'store');
  const assets = DEMO_CATALOGUE.filter(({ symbol }) => ['SOLUSD', 'AAPL'].includes(symbol));
  await writePastCandles({ storageDir: dir, assets, clock });
  const store = await openStore({ dir, assets, candleRetentionMs: Number.MAX_SAFE_INTEGER, clock });
  t.teardown(() => store.close());
  const today = Math.floor(SUNDAY / DAY_MS);
  for (const asset of assets) {
    const counts = [5, 4, 3, 2, 1, 0].map((ago) => {
      const record = store.candles.day(asset, today - ago);
      return record === undefined
        ? 0
        : decodeCandles(record, (today - ago) * DAY_MINUTES, DAY_MINUTES).length;
    });
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      DAY_MINUTES,
      asset.symbol,
    );
    if (asset.calendar !== 'none') t.equal(counts.at(-1), 0, 'a closed market has no candle');
  }
});
