import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import type { MinuteCandle } from '../../../src/log/records/holding.js';
import { CandleFiles } from '../../../src/log/store/candle_files.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { monthOfDay, ROW_BYTES, rowPosition } from '../../../src/log/store/candle_rows.js';
import { KeptCandles } from '../../../src/log/store/kept_candles.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { Resolution } from '../../../src/wire/rest_values.js';

const DAY = 1_440;
/** 2024-01-01T00:00Z. */
const START = 19_723 * DAY;
const BTC: AssetName = { symbol: 'BTCUSD', signatureType: 'evm' };

function setUp(t: Test) {
  const dir = t.testdir();
  const damage: string[] = [];
  const onDamage = (reason: string) => void damage.push(reason);
  const open = () => new KeptCandles({ dir, running: () => undefined, onDamage });
  return { dir, damage, open };
}

function candle(minute: number, value: number): MinuteCandle {
  return { minute, open: value, high: value + 1, low: value - 1, close: value + 0.5 };
}

/** Returns the minute after the start, and the close, of each candle. */
function read(candles: KeptCandles, resolution: Resolution = '1', asset = BTC): [number, number][] {
  const asked = { resolution, fromS: 0, toS: 1e10, candlesMax: 1_000 };
  const { t, c } = candles.reader.history(asset, asked) as CandleColumns;
  return t.map((startS, i) => [startS / 60 - START, c[i]!]);
}

test('a damaged row is left out and named once, in files of minutes and of quarter hours', async (t) => {
  const { dir, damage, open } = setUp(t);
  const candles = open();
  for (let i = 0; i < 60; i++) candles.close(BTC, candle(START + i, i));
  await candles.sync();
  const minutes = read(open());
  t.equal(minutes.length, 60);
  const path = join(dir, 'candles', 'BTCUSD.evm', '2024-01');
  const whole = readFileSync(path);
  const flip = (at: number) => {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1 << (at % 8);
    writeFileSync(path, bytes);
  };
  const month = monthOfDay(START / DAY);
  for (let byte = 0; byte < ROW_BYTES; byte++) {
    flip(rowPosition('minute', START + 10, month) + byte);
    const own = open();
    for (const _ of ['named', 'once']) t.same(read(own), minutes.toSpliced(10, 1), `byte ${byte}`);
    t.equal(damage.length, byte + 1);
  }
  t.match(damage[0], /BTCUSD\.evm\/2024-01 is damaged: the checksum of the candle of 2024-01-01T00:10 /);
  flip(rowPosition('quarter', START / 15 + 2, month));
  t.same(read(open(), '15'), [
    [0, 14.5],
    [15, 29.5],
    [45, 59.5],
  ]);
});

test('a row of another place, another asset, and a file that was cut off are damage', async (t) => {
  const { dir, damage, open } = setUp(t);
  const candles = open();
  for (let i = 0; i < 3; i++) candles.close(BTC, candle(START + i, i));
  await candles.sync();
  const folder = (name: string) => join(dir, 'candles', name);
  const path = join(folder('BTCUSD.evm'), '2024-01');
  const whole = readFileSync(path);
  const moved = Buffer.from(whole);
  moved.copyWithin(2 * ROW_BYTES, 0, ROW_BYTES);
  writeFileSync(path, moved);
  t.equal(read(open()).length, 2);
  t.equal(damage.length, 1);

  mkdirSync(folder('ETHUSD.evm'));
  writeFileSync(join(folder('ETHUSD.evm'), '2024-01'), whole);
  t.same(read(open(), '1', { symbol: 'ETHUSD', signatureType: 'evm' }), []);
  t.equal(damage.length, 2);

  writeFileSync(path, whole.subarray(0, 2 * ROW_BYTES));
  read(open());
  t.match(damage[2], /2024-01 is damaged: it is cut off/);
});

test('names of symbols stay inside the folder, and do not meet', async (t) => {
  const { dir, damage, open } = setUp(t);
  const candles = open();
  const symbols = ['../..', 'a/b', 'a%2Fb', 'GRÜN/USD', '..', '😀'.repeat(64), '😁'.repeat(64)];
  const assets = [
    ...symbols.map((symbol): AssetName => ({ symbol, signatureType: 'evm' })),
    { symbol: 'a/b', signatureType: 'stark' } as const,
  ];
  for (const [i, asset] of assets.entries()) candles.close(asset, candle(START, i));
  await candles.sync();
  for (const [i, asset] of assets.entries()) t.same(read(open(), '1', asset), [[0, i + 0.5]], asset.symbol);
  t.same(readdirSync(dir), ['candles']);
  t.equal(readdirSync(join(dir, 'candles')).length, assets.length);
  t.same(damage, []);
});

test('another thread reads the rows that are being written whole or not at all', async (t) => {
  const { dir, open } = setUp(t);
  const candles = open();
  const files = new CandleFiles(join(dir, 'candles'), (reason) => t.fail(reason));
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 50; i++) candles.close(BTC, candle(START + i, round));
    let isOver = false;
    void candles.flush().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      files.read(BTC, 'minute', START, START + 60, (number, open, high, low, close) => {
        if (open - low !== 1 || high - open !== 1 || close - open !== 0.5) t.fail(`minute ${number}`);
      });
      await new Promise(setImmediate);
    }
  }
  await candles.end();
});
