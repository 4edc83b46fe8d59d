import { equal, match, ok, rejects } from 'node:assert/strict';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { eventually } from '../../../scripts/load/wait.js';
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

/** The program that full_disk.test.ts runs in a separate mount namespace. The folder is a file system of a few megabytes. */
const dir = process.argv[2]!;
const ballast = join(dir, 'ballast');
const clock = new FakeClock(atSecond(START_S));
const lines: string[] = [];
const log = (line: string) => lines.push(line);
const options = storeOptions(join(dir, 'store'), { clock, logger: { error: log, info: log } });
const asset = options.assets[0]!;
let store = await openStore(options);

let count = 0;
function appendNext(): void {
  clock.timeNs = atSecond(START_S + count);
  const aggregate = sampleAggregate(asset, options.publishers, units(count + 1), clock.nowNs());
  appendTo(store, aggregate);
  putInputs(store, aggregate);
  count++;
}

for (let i = 0; i < 100; i++) appendNext();
await store.durable();

const { bavail, bsize } = statfsSync(dir);
writeFileSync(ballast, Buffer.alloc(bavail * bsize - 2 * bsize));
for (let i = 0; i < 200; i++) appendNext();
await rejects(store.durable(), /data folder cannot be written: .* KiB are free there/);
const health = store.health();
ok(!health.ok);
match(
  health.reason,
  /cannot be written: the disk is full: storage.reserve keeps 16384 KiB free; \d+ KiB are free there/,
);

// Streaming continues from memory, but an acknowledgement is refused immediately.
for (let i = 0; i < 100; i++) appendNext();
equal(latestIn(store, asset)?.price, units(count));
await rejects(store.durable(), /cannot be written/);

// During a long failure, memory keeps seconds up to its limit, then a gap, and always the newest second.
const gapTestStart = count;
for (let i = 0; i < 12_000; i++) {
  appendTo(store, sampleAggregate(asset, [], units(count + 1), atSecond(START_S + count)));
  count++;
}
equal(latestIn(store, asset)?.price, units(count));

rmSync(ballast);
// The store works again without a restart.
await eventually(() => store.health().ok);
await store.durable();
equal(lines.length, 2, lines.join('; '));
match(lines[0]!, /cannot be written: the disk is full/);
equal(lines[1], 'the data folder is written again');
await store.close();

store = await openStore(options);
equal(latestIn(store, asset)?.price, units(count));
const prices = await pricesIn(options.dir);
const answered = prices.findIndex((price, i) => price !== units(i + 1));
ok(answered > gapTestStart && answered < count - 1, `${answered} seconds kept of ${count}`);
equal(prices.length, answered + 1, 'and the newest');
equal(prices.at(-1), units(count));
ok((await entriesIn(options.dir)).some((entry) => entry.startsWith('{"gap":')));
const minutes = store.history(asset, '1', 0, START_S + count, 1_000);
ok(minutes !== 'too many');
equal(minutes.t.length, Math.ceil(count / 60), 'no candle is lost');
equal(minutes.h.at(-2), Math.floor((count - 1) / 60) * 60);
await store.close();
process.stdout.write('recovered\n');
