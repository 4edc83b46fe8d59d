import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/log/store/store.js';
import { NS_PER_SECOND, type TimeNs } from '../src/model/time.js';
import { FakeClock } from '../test/clock/fake_clock.js';
import {
  atSecond,
  putInputs,
  START_S,
  sampleAggregate,
  sampleAsset,
  samplePublisher,
  storeOptions,
  units,
} from '../test/log/store/sample.js';
import { appendTo, latestIn } from './load/store_records.js';

/**
 * Measures the store. The service signs 1,000 assets with 5 publishers each at 2 Hz for 10 minutes of a simulated clock, at the full
 * speed of the machine. Then the program measures a restart and the queries. The arguments are: assets, seconds, publishers, commits per
 * second.
 */
const [assetCount = 1_000, seconds = 600, publisherCount = 5, commitsPerSecond = 50] = process.argv
  .slice(2)
  .map(Number);
/** The number of turns in which the program signs each asset once. Each asset has two signatures a second. */
const turns = commitsPerSecond / 2;

const dir = mkdtempSync(join(tmpdir(), 'tickseal-load-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
const clock = new FakeClock(atSecond(START_S));
const options = storeOptions(dir, {
  clock,
  assets: Array.from({ length: assetCount }, (_, i) => sampleAsset(i)),
  publishers: Array.from({ length: publisherCount }, (_, i) => samplePublisher(i)),
});

report('empty');
let store = await openStore(options);
let appendMs = 0;
let commitMs = 0;
const startedMs = performance.now();
const startedCpu = process.cpuUsage();
for (let s = 0; s < seconds; s++) {
  clock.timeNs = atSecond(START_S + s);
  for (let tick = 0; tick < commitsPerSecond; tick++) {
    const batch = [];
    const turn = s * commitsPerSecond + tick;
    for (let i = tick % turns; i < assetCount; i += turns) {
      const asset = options.assets[i]!;
      const signedAtNs = atSecond(
        START_S + s,
        (BigInt(tick) * NS_PER_SECOND) / BigInt(commitsPerSecond) + BigInt(i),
      ) as TimeNs;
      batch.push(sampleAggregate(asset, options.publishers, units(1 + ((turn * 31 + i) % 997)), signedAtNs));
    }
    const appendStartMs = performance.now();
    for (const aggregate of batch) {
      appendTo(store, aggregate);
      putInputs(store, aggregate);
    }
    appendMs += performance.now() - appendStartMs;
    const commitStartMs = performance.now();
    await store.durable();
    commitMs += performance.now() - commitStartMs;
  }
  if (s % 60 === 59) report(`${s + 1} s`);
}
const aggregates = assetCount * 2 * seconds;
print('wall time', `${((performance.now() - startedMs) / 1000).toFixed(1)} s for ${aggregates} aggregates`);
const { user, system } = process.cpuUsage(startedCpu);
print('CPU, samples included', `${((user + system) / 1e4 / seconds).toFixed(0)} % of a core at this rate`);
const written = Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0);
print('given to the disk', `${megabytes(written / seconds)} a second at this rate`);
print('append + putInputs', `${((appendMs / aggregates) * 1000).toFixed(2)} µs an aggregate`);
print('commit, fsync included', `${(commitMs / seconds / commitsPerSecond).toFixed(2)} ms`);
await store.close();
print(
  'on disk',
  `${megabytes(readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0))}`,
);

const openMs = performance.now();
store = await openStore(options);
print('restart', `${(performance.now() - openMs).toFixed(0)} ms`);
print('inputs()', `${time(1, () => [...store.inputs()].length).toFixed(0)} ms`);
report('after the restart');
const asset = options.assets[0]!;
print('latest', `${(time(100_000, () => latestIn(store, asset)) * 1000).toFixed(3)} µs`);

// Stores more than a week of minutes for one asset.
for (let minute = 0; minute < 8 * 1_440 + 700; minute++) {
  clock.timeNs = atSecond(START_S + seconds + minute * 60);
  appendTo(store, sampleAggregate(asset, [], units(1 + (minute % 501)), clock.nowNs()));
  if (minute % 1_440 === 0) await store.durable();
}
for (let i = 0; i < 10; i++) {
  putInputs(
    store,
    sampleAggregate(
      asset,
      [options.publishers[0]!],
      units(1),
      (clock.timeNs + BigInt(i) * NS_PER_SECOND) as TimeNs,
    ),
  );
  await store.durable();
}
const toS = Number(clock.timeNs / NS_PER_SECOND);
for (const [resolution, candles] of [
  ['1', 10_080],
  ['5', 2_016],
  ['60', 168],
  ['D', 8],
] as const) {
  const fromS = toS - 10_080 * 60;
  const ms = time(200, () => store.history(asset, resolution, fromS, toS, 50_000));
  print(`history ${resolution}`, `${ms.toFixed(3)} ms for about ${candles} candles`);
}
await store.close();

function time(rounds: number, run: () => unknown): number {
  for (let i = 0; i < Math.min(rounds, 50); i++) run();
  const startMs = performance.now();
  for (let i = 0; i < rounds; i++) run();
  return (performance.now() - startMs) / rounds;
}

function report(name: string): void {
  globalThis.gc?.();
  const status = readFileSync('/proc/self/status', 'utf8');
  const kilobytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  const { heapUsed, external } = process.memoryUsage();
  print(
    name,
    `own memory ${megabytes(kilobytes('RssAnon') * 1024)} (heap ${megabytes(heapUsed)}, buffers ${megabytes(external)}), mapped file pages ${megabytes(kilobytes('RssFile') * 1024)}`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(24)}${value}\n`);
}
