import { test } from 'tap';
import { LocalExchange } from '../../../scripts/load/local_exchange.js';
import type { TimeNs } from '../../../src/model/time.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

test('frames that waited while the process stood still are not read', async (t) => {
  const exchange = await LocalExchange.start(t, 'binance', ['BTC/USD']);
  const time = new ManualTime();
  let stalledNs = 0n;
  const { run, warnings } = manualRun(
    t,
    `sources: { a: ${exchange.definition} }\nassets: { B: { from: [a BTC/USD], min_sources: 1, max_age: 60s } }`,
    time,
    // The clock of a process that stood still is ahead of its timers.
    { clock: { nowNs: () => (time.nowNs() + stalledNs) as TimeNs } },
  );
  await run.open();
  const bid = () => Number((run.decisions()[0]!.readings[0]!.quote?.bid ?? 0n) / 10n ** 18n);
  await until(() => exchange.asked.length === 1, 'the subscription');
  exchange.show('BTC/USD', '1', '1.001', 0);
  await until(() => bid() === 1, 'the quote');
  stalledNs = 4_000_000_000n;
  exchange.show('BTC/USD', '2', '2.001', 0);
  await until(() => bid() === 2, 'a frame that waited for 4 s');
  time.advance(250);
  stalledNs += 5_001_000_000n;
  exchange.show('BTC/USD', '3', '3.001', 0);
  exchange.show('BTC/USD', '4', '4.001', 0);
  await until(() => !exchange.isConnected, 'the end of the connection');
  t.equal(bid(), 2);
  t.same(warnings, ['a: the process stood still for 5.001 s; connecting again']);
  time.advance(250);
  await until(() => exchange.asked.length === 2, 'the next subscription');
  exchange.show('BTC/USD', '5', '5.001', 0);
  await until(() => bid() === 5, 'the next quote');
});
