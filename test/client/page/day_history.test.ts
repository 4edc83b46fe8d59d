import { test } from 'tap';
import type { TaxonomyAsset } from '../../../src/client/index.js';
import {
  DayHistories,
  type DayHistory,
  dayChange,
  dayRange,
  sparkPath,
} from '../../../src/client/page/day_history.js';

const NOW_S = 1_800_000_000;

function asset(symbol: string): TaxonomyAsset {
  return { id: 1, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none' };
}

const [A, B, C] = [asset('A'), asset('B'), asset('C')];

/** Opens histories over a service that answers when `answer` is called. */
function openDays() {
  const service = { nowMs: NOW_S * 1_000, asked: [] as URLSearchParams[], isDown: false };
  const waiting: (() => void)[] = [];
  const get = (path: string) => {
    service.asked.push(new URLSearchParams(path.split('?')[1]));
    return new Promise<string>((resolve, reject) => {
      const candles = { t: [NOW_S - 1_800, NOW_S - 900], o: [5, 6], h: [7, 8], l: [4, 5], c: [6, 7] };
      const names = service.asked.at(-1)!.get('assets')!.split(',');
      const data = Object.fromEntries(names.filter((name) => name !== 'C').map((name) => [name, candles]));
      waiting.push(() =>
        service.isDown ? reject(new Error('overloaded')) : resolve(JSON.stringify({ data })),
      );
    });
  };
  /** Answers the open request, and lets the next request begin. */
  const answer = async () => {
    waiting.shift()!();
    await new Promise(setImmediate);
  };
  const symbols = () => service.asked.map((query) => query.get('assets')).join(' ');
  return { days: new DayHistories(get, () => service.nowMs), service, answer, symbols };
}

test('one request reads 25 visible assets of a kind, and none of a row that has gone out of sight', async (t) => {
  const { days, service, answer, symbols } = openDays();
  const many = Array.from({ length: 26 }, (_, i) => asset(`A${i}`));
  const stark: TaxonomyAsset = { ...asset('S'), signatureType: 'stark' };
  const closing: TaxonomyAsset = { ...asset('X'), calendar: 'us_equities' };
  void days.read([A, stark, B, closing]);
  void days.read([A, stark, B, closing]);
  t.equal(symbols(), 'A,B');
  t.match(Object.fromEntries(service.asked[0]!), {
    resolution: '15',
    from: String(NOW_S - 86_400),
    to: String(NOW_S + 1),
    signature_type: 'evm',
  });
  void days.read([A, stark, closing, ...many]);
  await answer();
  t.equal(service.asked[1]!.get('signature_type'), 'stark');
  await answer();
  t.equal(service.asked[2]!.get('assets'), 'X');
  t.equal(service.asked[2]!.get('from'), String(NOW_S - 4 * 86_400), 'a market may be closed for days');
  await answer();
  await answer();
  t.equal(service.asked[3]!.get('assets')!.split(',').length, 25);
  t.equal(service.asked[4]!.get('assets'), 'A25');
  await answer();
  t.equal(service.asked.length, 5);
  t.same(dayRange(days.get(stark)!, undefined), [4, 8]);
  t.ok(days.get(B), 'an asset that was asked for keeps its answer');
});

test('an asset without candles has no history, and is not asked for again at once', async (t) => {
  const { days, service, answer } = openDays();
  void days.read([C]);
  await answer();
  await days.read([C]);
  t.equal(service.asked.length, 1);
  t.equal(days.get(C), undefined);
});

test('a history is read again after a quarter of an hour, and after a failure in 15 s', async (t) => {
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
  t.ok(days.get(A), 'the older history stays');
  service.nowMs += 14_999;
  await days.read([A]);
  t.equal(symbols(), 'A A');
  service.nowMs += 1;
  void days.read([A]);
  t.equal(symbols(), 'A A A');
});

test('a verified price widens the range, and moves the change', async (t) => {
  const { days, answer } = openDays();
  void days.read([A]);
  await answer();
  const day = days.get(A)!;
  t.same(
    [5, 9, 3].map((price) => dayRange(day, price)),
    [
      [4, 8],
      [4, 9],
      [3, 8],
    ],
  );
  t.equal(dayChange(day, 6), 0.2, 'since the opening price of the 24 hours');
  t.equal(dayChange(undefined, 6), undefined);
  t.equal(dayChange({ candles: [], endS: 0 }, 6), undefined);
});

test('a closed market shows the 24 hours before it closed, also if about its last price is repeated', async (t) => {
  const closed: TaxonomyAsset = { ...A, calendar: 'us_equities' };
  const closedS = NOW_S - 2 * 86_400;
  const flat = { o: 7.5, h: 7.5, l: 7.5, c: 7.5 };
  const columns = {
    t: [closedS - 900, closedS, NOW_S - 900],
    o: [5, 6, flat.o],
    h: [7, 8, flat.h],
    l: [4, 5, flat.l],
    c: [6, 7, flat.c],
  };
  const days = new DayHistories(
    async () => JSON.stringify({ data: { A: columns, B: columns } }),
    () => NOW_S * 1_000,
  );
  await days.read([closed]);
  t.match(days.get(closed), { endS: closedS + 900, candles: [{}, {}] });
  t.same(dayRange(days.get(closed)!, undefined), [4, 8]);
  await days.read([B]);
  t.equal(days.get(B)?.endS, NOW_S, 'an asset without market hours is shown until now');
});

test('at most 250 histories are kept', async (t) => {
  const { days, answer, symbols } = openDays();
  const assets = Array.from({ length: 251 }, (_, i) => asset(`A${i}`));
  for (const one of assets) {
    void days.read([one]);
    await answer();
  }
  t.equal(days.get(assets[0]!), undefined);
  t.ok(days.get(assets[1]!));
  t.equal(symbols().split(' ').length, 251);
});

test('a sparkline places prices by their times, and leaves a closed market open', async (t) => {
  const candle = (time: number, close: number) => ({ time, open: close, high: close, low: close, close });
  const day: DayHistory = {
    candles: [candle(NOW_S - 43_200, 1), candle(NOW_S - 42_300, 3), candle(NOW_S - 900, 2)],
    endS: NOW_S,
  };
  t.equal(sparkPath(day, 3), 'M50.0 20.0h0L51.0 0.0M99.0 10.0h0L100.0 0.0');
  const single = { ...day, candles: [candle(NOW_S - 900, 2)] };
  t.equal(sparkPath(single, undefined), '', 'one point is no line');
  t.equal(sparkPath(single, 2), 'M99.0 10.0h0L100.0 10.0');
});
