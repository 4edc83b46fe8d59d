import { mkdirSync, readdirSync, readFileSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import type { MinuteCandle } from '../../../src/log/records/holding.js';
import { CandleFiles } from '../../../src/log/store/candle_files.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { monthOfDay, ROW_BYTES, rowPosition } from '../../../src/log/store/candle_rows.js';
import { KeptCandles } from '../../../src/log/store/kept_candles.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { intervalAt } from '../../../src/wire/resolution.js';
import type { Resolution } from '../../../src/wire/rest_values.js';

const DAY = 1_440;
/** 2024-01-01T00:00Z. */
const START = 19_723 * DAY;
const BTC: AssetName = { symbol: 'BTCUSD', signatureType: 'evm' };
const ALL = 1_000_000;

interface Opened {
  readonly dir: string;
  readonly damage: string[];
  running: MinuteCandle | undefined;
  open(): KeptCandles;
}

function setUp(t: Test): Opened {
  const opened: Opened = {
    dir: t.testdir(),
    damage: [],
    running: undefined,
    open: () =>
      new KeptCandles({
        dir: opened.dir,
        running: () => opened.running,
        onDamage: (reason) => opened.damage.push(reason),
      }),
  };
  return opened;
}

function candle(minute: number, value: number): MinuteCandle {
  return { minute, open: value, high: value + 1, low: value - 1, close: value + 0.5 };
}

function merged(minutes: readonly MinuteCandle[], resolution: Resolution): CandleColumns {
  const columns: CandleColumns = { t: [], o: [], h: [], l: [], c: [] };
  for (const { minute, open, high, low, close } of minutes) {
    const { startS } = intervalAt(resolution, minute * 60);
    if (columns.t.at(-1) !== startS) {
      columns.t.push(startS);
      columns.o.push(open);
      columns.h.push(high);
      columns.l.push(low);
      columns.c.push(close);
    }
    const last = columns.t.length - 1;
    columns.h[last] = Math.max(columns.h[last]!, high);
    columns.l[last] = Math.min(columns.l[last]!, low);
    columns.c[last] = close;
  }
  return columns;
}

function read(candles: KeptCandles, resolution: Resolution = '1', asset = BTC) {
  return candles.reader.history(asset, { resolution, fromS: 0, toS: 1e10, candlesMax: ALL });
}

test('minutes of another store replace those of the files, in the past and in the running quarter', async (t) => {
  const opened = setUp(t);
  const candles = opened.open();
  for (let minute = START; minute < START + 40; minute += 2) candles.close(BTC, candle(minute, 1));
  opened.running = candle(START + 40, 1);
  await candles.flush();
  const given = Array.from({ length: 60 }, (_, i) => ({ number: START + i, ...candle(START + i, i) }));
  await candles.add(BTC, given);
  const expected = [...given.slice(0, 40), opened.running];
  for (const resolution of ['1', '15', '60'] as const)
    t.same(read(candles, resolution), merged(expected, resolution), resolution);
  const earlier = { number: START - 50 * DAY, ...candle(START - 50 * DAY, 7) };
  await candles.add(BTC, [earlier]);
  t.equal(candles.reader.candleDays(BTC).first, START / DAY - 50);
  t.same(read(candles, 'M'), merged([earlier, ...expected], 'M'));
  opened.running = undefined;
  t.same(candles.reader.candleDays(BTC), { first: START / DAY - 50, end: START / DAY + 1 });
  t.same(read(candles), merged([earlier, ...given], '1'), 'later minutes are shown when no price is running');
  await candles.end();
});

test('a minute of another store replaces an own one that closed before and is not written yet', async (t) => {
  const candles = setUp(t).open();
  candles.close(BTC, candle(START, 1));
  const whole = { number: START, ...candle(START, 9) };
  await candles.add(BTC, [whole]);
  t.same(read(candles), merged([whole], '1'));
  await candles.flush();
  t.same(read(candles), merged([whole], '1'));
  await candles.end();
});

test('a damaged row is left out and named once, in files of minutes and of quarter hours', async (t) => {
  const opened = setUp(t);
  const candles = opened.open();
  const minutes = Array.from({ length: 100 }, (_, i) => candle(START + i, i));
  for (const one of minutes) candles.close(BTC, one);
  await candles.sync();
  const path = join(opened.dir, 'candles', 'BTCUSD.evm', '2024-01');
  const whole = readFileSync(path);
  const month = monthOfDay(START / DAY);
  for (let byte = 0; byte < ROW_BYTES; byte++) {
    const bytes = Buffer.from(whole);
    bytes[rowPosition('minute', START + 10, month) + byte]! ^= 1 << (byte % 8);
    writeFileSync(path, bytes);
    const own = opened.open();
    t.same(
      read(own),
      merged(
        minutes.filter(({ minute }) => minute !== START + 10),
        '1',
      ),
      `byte ${byte}`,
    );
    read(own);
    t.equal(opened.damage.length, byte + 1);
  }
  t.match(
    opened.damage[0],
    /BTCUSD\.evm\/2024-01 is damaged: the checksum of the candle of 2024-01-01T00:10 /,
  );
  const bytes = Buffer.from(whole);
  bytes[rowPosition('quarter', START / 15 + 2, month)]! ^= 1;
  writeFileSync(path, bytes);
  const left = merged(minutes, '15');
  for (const column of Object.values(left)) column.splice(2, 1);
  t.same(read(opened.open(), '15'), left);
});

test('a row of another place, another asset, and a file that was cut off are damage', async (t) => {
  const opened = setUp(t);
  const candles = opened.open();
  for (let i = 0; i < 3; i++) candles.close(BTC, candle(START + i, i));
  await candles.sync();
  const folder = (name: string) => join(opened.dir, 'candles', name);
  const path = join(folder('BTCUSD.evm'), '2024-01');
  const whole = readFileSync(path);
  const moved = Buffer.from(whole);
  moved.copyWithin(2 * ROW_BYTES, 0, ROW_BYTES);
  writeFileSync(path, moved);
  t.same(read(opened.open()), merged([candle(START, 0), candle(START + 1, 1)], '1'));
  t.equal(opened.damage.length, 1);

  mkdirSync(folder('ETHUSD.evm'));
  writeFileSync(join(folder('ETHUSD.evm'), '2024-01'), whole);
  t.same(read(opened.open(), '1', { symbol: 'ETHUSD', signatureType: 'evm' }), merged([], '1'));
  t.equal(opened.damage.length, 2);

  writeFileSync(path, whole);
  truncateSync(path, 2 * ROW_BYTES);
  read(opened.open());
  t.match(opened.damage[2], /2024-01 is damaged: it is cut off/);
});

test('names of symbols stay inside the folder, and do not meet', async (t) => {
  const opened = setUp(t);
  const candles = opened.open();
  const symbols = ['../..', 'a/b', 'a%2Fb', 'GRÜN/USD', '..', '😀'.repeat(64), '😁'.repeat(64)];
  const assets = [
    ...symbols.map((symbol): AssetName => ({ symbol, signatureType: 'evm' })),
    { symbol: 'a/b', signatureType: 'stark' } as const,
  ];
  for (const [i, asset] of assets.entries()) candles.close(asset, candle(START, i));
  await candles.sync();
  for (const [i, asset] of assets.entries())
    t.same(read(opened.open(), '1', asset), merged([candle(START, i)], '1'), asset.symbol);
  t.same(readdirSync(opened.dir), ['candles']);
  t.equal(readdirSync(join(opened.dir, 'candles')).length, assets.length);
  t.same(opened.damage, []);
});

test('minutes that cannot be written stay in memory until the disk works again', async (t) => {
  const opened = setUp(t);
  const candles = opened.open();
  // A folder in the place of a file.
  const next = join(opened.dir, 'candles', 'BTCUSD.evm', '2024-01.next');
  mkdirSync(next, { recursive: true });
  candles.close(BTC, candle(START, 1));
  await t.rejects(candles.sync());
  t.match(candles.failure(), /^the candles cannot be written: /);
  for (const resolution of ['1', 'D'] as const)
    t.same(read(candles, resolution), merged([candle(START, 1)], resolution));
  rmdirSync(next);
  await eventually(() => candles.failure() === undefined);
  t.same(read(opened.open()), merged([candle(START, 1)], '1'));
  await candles.end();
});

test('another thread reads the rows that are being written whole or not at all', async (t) => {
  const opened = setUp(t);
  const candles = opened.open();
  const files = new CandleFiles(join(opened.dir, 'candles'), (reason) => t.fail(reason));
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 50; i++) candles.close(BTC, candle(START + i, round));
    const written = candles.flush();
    let isOver = false;
    void written.then(() => {
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
