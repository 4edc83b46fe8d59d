import { test } from 'tap';
import { DayHistories, type DayHistory } from '../../../src/client/page/day_history.js';
import { sparkPath } from '../../../src/client/page/sparkline.js';
import type { TaxonomyAsset } from '../../../src/client/prices/taxonomy.js';

const NOW_S = 1_800_000_000;

function asset(symbol: string): TaxonomyAsset {
  return { id: 1, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none' };
}

const [A, B, C] = [asset('A'), asset('B'), asset('C')];

/** Opens histories over a service that answers when `answer` is called. */
function openDays() {
  const service = { nowMs: NOW_S * 1_000, asked: [] as URLSearchParams[], isDown: false };
  const waiting: (() => void)[] = [];
  const days = new DayHistories({
    get: (path) => {
      service.asked.push(new URLSearchParams(path.split('?')[1]));
      return new Promise((resolve, reject) => {
        const candles = { t: [NOW_S - 1_800, NOW_S - 900], o: [5, 6], h: [7, 8], l: [4, 5], c: [6, 7] };
        const names = service.asked.at(-1)!.get('assets')!.split(',');
        const data = Object.fromEntries(names.map((name) => [name, candles]));
        waiting.push(() =>
          service.isDown ? reject(new Error('overloaded')) : resolve(JSON.stringify({ data })),
        );
      });
    },
    nowMs: () => service.nowMs,
  });
  /** Answers the open request, and lets the next request begin. */
  const answer = async () => {
    waiting.shift()!();
    await new Promise(setImmediate);
  };
  const symbols = () => service.asked.map((query) => query.get('assets')).join(' ');
  return { days, service, answer, symbols };
}

test('one request reads 25 visible assets of a type, and none of a row that has gone out of sight', async (t) => {
  const { days, service, answer, symbols } = openDays();
  const many = Array.from({ length: 26 }, (_, i) => asset(`A${i}`));
  const stark: TaxonomyAsset = { ...asset('S'), signatureType: 'stark' };
  void days.read([A, stark, B]);
  void days.read([A, stark, B]);
  t.equal(symbols(), 'A,B');
  t.match(Object.fromEntries(service.asked[0]!), {
    resolution: '15',
    from: String(NOW_S - 86_400),
    to: String(NOW_S + 1),
    signature_type: 'evm',
  });
  void days.read([A, stark, ...many]);
  await answer();
  t.equal(service.asked[1]!.get('signature_type'), 'stark');
  await answer();
  await answer();
  t.equal(service.asked[2]!.get('assets')!.split(',').length, 25);
  t.equal(service.asked[3]!.get('assets'), 'A25');
  await answer();
  t.equal(service.asked.length, 4);
  t.match(days.follow(stark, undefined), { low: 4, high: 8 });
  t.match(days.follow(B, undefined), { low: 4, high: 8 }, 'an asset that was asked for keeps its answer');
});

test('an asset without candles has no history, and is not asked for again at once', async (t) => {
  const { days, service } = openDays();
  const empty = new DayHistories({
    get: async (path) => {
      service.asked.push(new URLSearchParams(path.split('?')[1]));
      return '{"data":{"A":{"t":[],"o":[],"h":[],"l":[],"c":[]}}}';
    },
    nowMs: () => service.nowMs,
  });
  await empty.read([A, C]);
  await empty.read([A, C]);
  t.equal(service.asked.length, 1);
  t.equal(empty.follow(A, 1), undefined);
  t.equal(empty.follow(C, 1), undefined, 'the answer lacks C');
  t.equal(days.follow(A, 1), undefined);
});

test('a history is read again after a quarter of an hour, and after a failure in 30 s', async (t) => {
  const { days, service, answer, symbols } = openDays();
  void days.read([A]);
  await answer();
  service.nowMs += 899_999;
  await days.read([A]);
  t.equal(symbols(), 'A');
  service.nowMs += 1;
  service.isDown = true;
  void days.read([A]);
  await answer();
  t.equal(symbols(), 'A A');
  t.match(days.follow(A, undefined), { low: 4, high: 8 }, 'the older history stays');
  service.nowMs += 29_999;
  await days.read([A]);
  t.equal(symbols(), 'A A');
  service.nowMs += 1;
  void days.read([A]);
  t.equal(symbols(), 'A A A');
});

test('a verified price widens the range, and the range does not shrink afterwards', async (t) => {
  const { days, answer } = openDays();
  void days.read([A]);
  await answer();
  const day = days.follow(A, 5);
  t.match(day, { low: 4, high: 8 });
  t.equal(days.follow(A, 6), day, 'a price in the range changes nothing');
  t.match(days.follow(A, 9), { low: 4, high: 9 });
  t.match(days.follow(A, 3), { low: 3, high: 9 });
  t.match(days.follow(A, 5), { low: 3, high: 9 });
});

test('at most 250 histories are kept', async (t) => {
  const { days, answer, symbols } = openDays();
  const assets = Array.from({ length: 251 }, (_, i) => asset(`A${i}`));
  for (const one of assets) {
    void days.read([one]);
    await answer();
  }
  t.equal(days.follow(assets[0]!, undefined), undefined);
  t.ok(days.follow(assets[1]!, undefined));
  t.equal(symbols().split(' ').length, 251);
});

test('a sparkline places prices by their times, and leaves a closed market open', async (t) => {
  const candle = (time: number, close: number) => ({ time, open: close, high: close, low: close, close });
  const day: DayHistory = {
    candles: [
      candle(NOW_S - 43_200, 1),
      candle(NOW_S - 42_300, 3),
      candle(NOW_S - 900, 2),
      candle(NOW_S - 90_000, 9),
    ],
    endS: NOW_S,
    low: 1,
    high: 3,
  };
  t.equal(
    sparkPath(day, 3),
    'M50.0 20.0h0L51.0 0.0M99.0 10.0h0L100.0 0.0',
    'a candle of yesterday is left out',
  );
  t.equal(sparkPath({ ...day, candles: [candle(NOW_S - 900, 2)] }, undefined), '', 'one point is no line');
  t.equal(
    sparkPath({ ...day, low: 2, high: 2, candles: [candle(NOW_S - 900, 2)] }, 2),
    'M99.0 10.0h0L100.0 10.0',
  );
});
