import { test } from 'tap';
import { ClockOffset } from '../../src/sources/clock_offset.js';
import { after } from './plans.js';

const SECOND = 1_000_000_000n;

/** Adds a frame each second, whose delay is the returned one, and returns the offsets. */
function offsets(
  seconds: number,
  delayS: (second: number) => number | undefined,
  offset = new ClockOffset(),
) {
  return Array.from({ length: seconds }, (_, second) => {
    const delay = delayS(second);
    if (delay !== undefined) offset.add(after(second * 1_000), BigInt(Math.round(delay * 1e9)));
    return offset.leastNs;
  });
}

test('a clock that is behind is known after ten minutes, one that is ahead at once', async (t) => {
  const behind = offsets(620, () => 30);
  t.equal(behind[590], undefined);
  t.equal(behind[611], 30n * SECOND);
  t.equal(offsets(1, () => -3)[0], -3n * SECOND);
});

test('the least delay of the last ten minutes counts', async (t) => {
  const found = offsets(1_300, (second) => (second % 7 === 0 ? 0.05 : 12) + (second < 640 ? 0 : 20));
  t.equal(found[630], 50_000_000n);
  t.equal(found[1_200], 50_000_000n, 'a frame of ten minutes ago');
  t.equal(found[1_290], 20_050_000_000n);
});

test('few frames show no offset, and ten minutes of silence begin anew', async (t) => {
  t.equal(offsets(1_200, (second) => (second % 25 === 0 ? 30 : undefined)).at(-1), undefined, '25 frames');
  const paused = offsets(2_000, (second) => (second < 620 || second > 1_300 ? 30 : undefined));
  t.equal(paused[620], 30n * SECOND);
  t.equal(paused[1_800], undefined);
  t.equal(paused[1_999], 30n * SECOND);
});

test('the state continues in another instance', async (t) => {
  const offset = new ClockOffset();
  offsets(605, () => 30, offset);
  const { buckets, first } = offset.saved;
  const copy = new ClockOffset(buckets, first);
  t.equal(copy.leastNs, offset.leastNs);
  for (const one of [offset, copy]) one.add(after(606_000), 29n * SECOND);
  t.equal(copy.leastNs, offset.leastNs);
});
