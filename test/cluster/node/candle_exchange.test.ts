import { join } from 'node:path';
import { test } from 'tap';
import { appendTo } from '../../../scripts/load/store_records.js';
import type { KeyedCandles, SharedCandles } from '../../../src/cluster/log/shared_candles.js';
import { CandleExchange } from '../../../src/cluster/node/candle_exchange.js';
import { openStore } from '../../../src/log/store/store.js';
import type { Price } from '../../../src/model/price.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { atSecond, START_S, sampleAggregate, storeOptions } from '../../log/store/sample.js';

const logger = { info: () => {}, warn: () => {} };

test('a node without the records has the candles of each leader', async (t) => {
  const clock = new FakeClock(atSecond(START_S));
  const dir = t.testdir({ first: {}, second: {}, fresh: {} });
  const open = (name: string) => openStore(storeOptions(join(dir, name), { clock }));
  const { assets } = storeOptions(dir, { clock });
  const [asset] = assets as [(typeof assets)[number]];
  const blocks = new Map<string, KeyedCandles>();
  const shelf: SharedCandles = {
    async put(key, bytes) {
      blocks.set(key.join('.'), { key, bytes });
    },
    async *read() {
      yield* blocks.values();
    },
  };
  const [first, second, fresh] = await Promise.all(['first', 'second', 'fresh'].map(open));
  let atS = START_S;
  for (const [term, store] of [first!, second!].entries()) {
    const exchange = new CandleExchange({ shelf, store, assets: () => assets, logger });
    await exchange.fetch();
    exchange.lead(term === 0);
    for (const stepS of [30, 60, 7_200, 90_000, 60, 60]) {
      exchange.closed(asset, Math.floor(atS / 60));
      atS += stepS;
      appendTo(store, sampleAggregate(asset, [], BigInt(atS) as Price, atSecond(atS)));
      exchange.putDays();
    }
    exchange.closed(asset, Math.floor(atS / 60) - 1);
    await new Promise(setImmediate);
    exchange.stepDown();
  }
  await new CandleExchange({ shelf, store: fresh!, assets: () => assets, logger }).fetch();
  const closedUntilS = atS - (atS % 60);
  const of = (store: typeof fresh) => store!.history(asset, '1', 0, closedUntilS, 1_000);
  const history = of(fresh);
  t.ok(history !== 'too many' && history.t.length > 8, 'minutes of both leaders');
  t.same(history, of(second));
  for (const store of [first, second, fresh]) await store!.close();
});
