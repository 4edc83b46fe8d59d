import { test } from 'tap';
import { laterByMs, millisecondOf, parseTimeNs, secondOf, type TimeNs } from '../../src/model/time.js';

test('a timestamp is a plain decimal int64 of 0 or above', async (t) => {
  t.equal(parseTimeNs('0'), 0n);
  t.equal(parseTimeNs('1710191092123456789'), 1710191092123456789n);
  t.equal(parseTimeNs('9223372036854775807'), 2n ** 63n - 1n);
  const refused = ['9223372036854775808', '-1', '-0', '01', '', ' 1', '1 ', '1.0', '1e3', '0x1', '1n', '1\n'];
  for (const text of [...refused, '1'.repeat(1_000_000)]) t.equal(parseTimeNs(text), undefined);
});

test('seconds and milliseconds are floored', async (t) => {
  const timeNs = 1_710_191_092_999_999_999n as TimeNs;
  t.equal(secondOf(timeNs), 1_710_191_092n);
  t.equal(millisecondOf(timeNs), 1_710_191_092_999);
  t.equal(millisecondOf((2n ** 63n - 1n) as TimeNs), 9_223_372_036_854);
});

test('milliseconds are added without a fraction of a nanosecond, and never subtracted', async (t) => {
  t.equal(laterByMs(5n, 2), 2_000_005n);
  t.equal(laterByMs(5n, 0.000_000_1), 6n);
  t.equal(laterByMs(5n, 0), 5n);
  t.equal(laterByMs(5n, Number.POSITIVE_INFINITY), undefined);
  for (const ms of [-3, Number.NEGATIVE_INFINITY]) t.equal(laterByMs(5n, ms), 5n);
});
