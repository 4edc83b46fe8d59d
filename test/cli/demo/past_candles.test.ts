import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { DEMO_CATALOGUE } from '../../../src/cli/demo/demo_catalogue.js';
import { writePastCandles } from '../../../src/cli/demo/past_candles.js';
import { openStore } from '../../../src/log/store/store.js';
import type { TimeNs } from '../../../src/model/time.js';

// A Friday evening in New York: the stock market closes at 20:00, an hour before this time.
const END_S = Date.UTC(2026, 10, 21, 2) / 1000;
const HOUR_S = 3_600;

test('a new store has candles of the last twelve hours, and none of a closed market', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-past-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const storageDir = join(dir, 'store');
  const clock = { nowNs: () => (BigInt(END_S) * 1_000_000_000n) as TimeNs };
  const assets = DEMO_CATALOGUE.filter(({ symbol }) => ['BTCUSDMARK', 'AAPL', 'ETHUSD'].includes(symbol));
  const given = assets.filter(({ symbol }) => symbol !== 'ETHUSD');
  await writePastCandles({ storageDir, assets: given, clock });
  await writePastCandles({ storageDir, assets, clock });
  const store = await openStore({
    dir: storageDir,
    assets,
    candleRetentionMs: Number.MAX_SAFE_INTEGER,
    clock,
  });
  t.teardown(() => store.close());
  const minutes = (symbol: string) => {
    const asset = assets.find((one) => one.symbol === symbol)!;
    const candles = store.history(asset, '1', END_S - 24 * HOUR_S, END_S, 5_000);
    if (candles === 'too many') throw new Error(candles);
    return candles;
  };
  const btc = minutes('BTCUSDMARK');
  t.equal(btc.t.length, 720);
  t.equal(btc.t[0], END_S - 12 * HOUR_S);
  t.equal(btc.t.at(-1), END_S - 60);
  t.ok(Math.abs(btc.c.at(-1)! / 95_000 - 1) < 0.001, 'it ends where the simulation starts');
  t.ok(btc.h.every((high, i) => high >= Math.max(btc.o[i]!, btc.c[i]!) && btc.l[i]! <= btc.c[i]!));
  t.same(btc.o.slice(1), btc.c.slice(0, -1), 'a candle opens where the one before it closed');
  t.equal(minutes('AAPL').t.at(-1), END_S - HOUR_S - 60);
  t.equal(minutes('ETHUSD').t.length, 0, 'only a new store receives candles');
});
