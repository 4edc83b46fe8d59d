import { test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { eventually } from '../../../scripts/load/wait.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { openStore } from '../../../src/log/store/store.js';
import { FakeClock } from '../../clock/fake_clock.js';
import {
  atSecond,
  entriesIn,
  pricesIn,
  putInputs,
  START_S,
  sampleAggregate,
  storeOptions,
  units,
} from './sample.js';

// `failing_writes.test.ts` tests writes that fail, and `npm run torture -- disk` a file system that is full.

test('below the reserve acknowledgements stop, the rest goes on, and it recovers by itself', async (t) => {
  const clock = new FakeClock(atSecond(START_S));
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  let freeBytes = 4097;
  const options = storeOptions(t.testdir(), {
    clock,
    reserveBytes: 4097,
    freeBytes: () => freeBytes,
    logger: { error: log, info: log },
  });
  const asset = options.assets[0]!;
  let store = await openStore(options);
  let count = 0;
  const append = (seconds: number, publishers = options.publishers) => {
    for (let i = 0; i < seconds; i++) {
      clock.timeNs = atSecond(START_S + count);
      const aggregate = sampleAggregate(asset, publishers, units(count + 1), clock.nowNs());
      appendTo(store, aggregate);
      putInputs(store, aggregate);
      count++;
    }
  };
  append(100);
  await store.durable();

  freeBytes = 4096;
  append(200);
  const reason =
    'the data folder cannot be written: the disk is full: storage.reserve keeps 5 KiB free; 4 KiB are free there';
  for (let attempt = 0; attempt < 2; attempt++) await t.rejects(store.durable(), { message: reason });
  t.same(store.health(), { ok: false, reason });
  append(100);
  t.equal(latestIn(store, asset)?.price, units(count), 'streams go on from memory');
  await t.rejects(store.durable(), { message: reason });
  // During a long failure, memory keeps seconds up to its limit, then a gap, and always the newest second.
  const longFrom = count;
  append(12_000, []);
  t.equal(latestIn(store, asset)?.price, units(count));

  freeBytes = 4097;
  await eventually(() => store.health().ok);
  await store.durable();
  t.same(lines, [reason, 'the data folder is written again'], 'each once');
  await store.close();

  store = await openStore(options);
  t.equal(latestIn(store, asset)?.price, units(count));
  const prices = await pricesIn(options.dir);
  // The segment of the first 100 seconds may be in its hour's file already.
  const sealed = prices[0] === units(101) ? 100 : 0;
  const read = prices.findIndex((price, i) => price !== units(sealed + i + 1));
  t.ok(sealed + read > longFrom && sealed + read < count - 1, `${sealed + read} seconds kept of ${count}`);
  t.same(prices.slice(read), [units(count)], 'and the newest');
  t.ok((await entriesIn(options.dir)).some((entry) => entry.startsWith('{"gap":')));
  const minutes = store.history(asset, '1', 0, START_S + count, 1_000) as CandleColumns;
  t.match(minutes, { t: { length: Math.ceil(count / 60) } }, 'no candle is lost');
  t.equal(minutes.h.at(-2), Math.floor((count - 1) / 60) * 60);
  await store.close();
});
