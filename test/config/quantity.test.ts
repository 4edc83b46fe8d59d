import fc from 'fast-check';
import { test } from 'tap';
import { parseDurationNs, parseSizeBytes, scaleDecimal } from '../../src/config/quantity.js';

test('durations of every unit, and nothing else', async (t) => {
  for (const [text, durationNs] of [
    ['0s', 0n],
    ['1us', 1_000n],
    ['500ms', 500_000_000n],
    ['10m', 600_000_000_000n],
    ['24h', 86_400_000_000_000n],
    ['3650d', 315_360_000_000_000_000n],
    ['9223372036854775807ns', 2n ** 63n - 1n],
  ] as const) {
    t.equal(parseDurationNs(text), durationNs, text);
  }
  const wrong = ['', '60', 's', '60 s', ' 60s', '60s ', '-1s', '1.5s', '1e3s', '060s', '1S', '1w', '1s1'];
  for (const text of [...wrong, '9223372036854775808ns', '106752d', '1s\n']) {
    t.equal(parseDurationNs(text), undefined, JSON.stringify(text));
  }
});

test('sizes in bytes and binary units, and nothing else', async (t) => {
  for (const [text, sizeBytes] of [
    ['0', 0],
    ['65536', 65_536],
    ['64KiB', 65_536],
    ['1 MiB', 1_048_576],
    ['2 GiB', 2_147_483_648],
    ['9 B', 9],
  ] as const) {
    t.equal(parseSizeBytes(text), sizeBytes, text);
  }
  const wrong = ['', 'KiB', '1 KB', '1 kib', '1  KiB', '1.5 MiB', '-1', '01', '1e3', '9007199254740992'];
  for (const text of wrong) {
    t.equal(parseSizeBytes(text), undefined, text);
  }
});

test('decimals are scaled by their text, digit for digit', async (t) => {
  t.equal(scaleDecimal(0.07, 6), 70_000n);
  t.equal(scaleDecimal(1e-7, 7), 1n);
  t.equal(scaleDecimal(1_000_000, 6), 1_000_000_000_000n);
  for (const value of [0.0000001, 1.2345678, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.equal(scaleDecimal(value, 6), undefined, String(value));
  }
  fc.assert(
    fc.property(fc.nat(999_999), fc.nat(999_999), (whole, millionths) => {
      const value = Number(`${whole}.${String(millionths).padStart(6, '0')}`);
      return scaleDecimal(value, 6) === BigInt(whole) * 1_000_000n + BigInt(millionths);
    }),
  );
});
