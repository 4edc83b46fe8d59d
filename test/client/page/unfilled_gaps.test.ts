import { test } from 'tap';
import { UnfilledGaps } from '../../../src/client/page/unfilled_gaps.js';

const NOON_S = Date.UTC(2026, 10, 20, 12) / 1000;
const ns = (second: number) => BigInt(Math.round((NOON_S + second) * 1000)) * 1_000_000n;
const gap = (fromS: number, toS: number) => ({ fromNs: ns(fromS), toNs: ns(toS) });

test('a gap that is shorter than a candle is marked at its candle', async (t) => {
  const gaps = new UnfilledGaps();
  t.same(gaps.marks('1'), []);
  gaps.add(gap(61, 62.2));
  t.same(gaps.marks('1'), [{ time: NOON_S + 60, text: 'missed 1.2 s until 12:01:02 UTC' }]);
  t.same(
    gaps.marks('60').map(({ time }) => time),
    [NOON_S],
  );
  gaps.add(gap(70, 75));
  t.same(gaps.marks('1'), [
    { time: NOON_S + 60, text: 'missed 1.2 s until 12:01:02 UTC\nmissed 5.0 s until 12:01:15 UTC' },
  ]);
});

test('a longer gap is marked where it begins and where it ends, in the order of time', async (t) => {
  const gaps = new UnfilledGaps();
  gaps.add(gap(59, 185));
  gaps.add(gap(-61, -60));
  t.same(
    gaps.marks('1').map(({ time }) => time - NOON_S),
    [-120, -60, 0, 180],
  );
});

test('marks disappear with the candles that were requested after their gaps', async (t) => {
  const gaps = new UnfilledGaps();
  gaps.add(gap(1, 2));
  const filled = gaps.fill();
  gaps.add(gap(3, 4));
  t.match(gaps.marks('1'), [{ text: /02 UTC\n.*04 UTC$/ }], 'a request alone fills nothing');
  filled();
  t.match(gaps.marks('1'), [{ text: /^missed 1\.0 s until 12:00:04 UTC$/ }]);
  gaps.fill()();
  t.same(gaps.marks('1'), []);
  for (let i = 0; i < 60; i++) gaps.add(gap(60 * i, 60 * i + 1));
  t.equal(gaps.marks('1').length, 50, 'the oldest are forgotten');
  t.equal(gaps.marks('1')[0]?.time, NOON_S + 600);
  gaps.clear();
  t.same(gaps.marks('1'), []);
});
