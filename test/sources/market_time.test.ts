import fc from 'fast-check';
import { test } from 'tap';
import type { TimeNs } from '../../src/model/time.js';
import {
  parseMicroseconds,
  parseMilliseconds,
  parseRfc3339,
  quoteTime,
} from '../../src/sources/market_time.js';

const NOW = 1_786_562_942_000_000_000n as TimeNs;
const SECOND = 1_000_000_000n;

test('times of markets are read to the nanosecond', async (t) => {
  t.equal(parseRfc3339('2026-08-12T19:29:00.921195Z'), 1_786_562_940_921_195_000n);
  t.equal(parseRfc3339('2026-08-12T19:27:33.489674268Z'), 1_786_562_853_489_674_268n);
  t.equal(parseRfc3339('2026-04-07 14:30:10.000000000+00:00'), 1_775_572_210_000_000_000n);
  t.equal(parseRfc3339('1970-01-01T01:00:00+01:00'), 0n);
  t.equal(parseRfc3339('2025-09-15T17:02:49.90120868Z'), 1_757_955_769_901_208_680n);
  t.equal(parseMilliseconds('1786613174873'), 1_786_613_174_873_000_000n);
  t.equal(parseMicroseconds('1791357997711238'), 1_791_357_997_711_238_000n);
  for (const text of ['', '2026-08-12', '2026-08-12T19:29:00', 'yesterday', undefined, null, 1])
    t.equal(parseRfc3339(text), undefined, String(text));
  t.equal(parseMilliseconds('1786613174'), undefined, 'seconds');
  t.equal(parseMicroseconds('1786613174873'), undefined, 'milliseconds');
});

test('days are those of the calendar', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8_000_000_000_000 }), (ms) => {
      return parseRfc3339(new Date(ms).toISOString()) === BigInt(ms) * 1_000_000n;
    }),
  );
  t.pass();
});

test('the market’s time counts within 5 s of receipt, and is never later than receipt', async (t) => {
  t.same(quoteTime(undefined, NOW), { timeNs: NOW, offsetNs: undefined });
  t.same(quoteTime(NOW - 5n * SECOND, NOW), { timeNs: NOW - 5n * SECOND, offsetNs: undefined });
  t.same(quoteTime(NOW + 5n * SECOND, NOW), { timeNs: NOW, offsetNs: undefined });
  t.same(quoteTime(NOW - 30n * SECOND, NOW), { timeNs: NOW, offsetNs: -30n * SECOND });
  t.same(quoteTime(NOW + 6n * SECOND, NOW), { timeNs: NOW, offsetNs: 6n * SECOND });
});
