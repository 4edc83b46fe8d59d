import fc from 'fast-check';
import { test } from 'tap';
import {
  parseAnyTime,
  parseMicroseconds,
  parseMilliseconds,
  parseRfc3339,
} from '../../src/sources/market_time.js';

test('times of markets are read to the nanosecond', async (t) => {
  t.equal(parseRfc3339('2026-08-12T19:29:00.921195Z'), 1_786_562_940_921_195_000n);
  t.equal(parseRfc3339('2026-08-12T19:27:33.489674268Z'), 1_786_562_853_489_674_268n);
  t.equal(parseRfc3339('2026-04-07 14:30:10.000000000+00:00'), 1_775_572_210_000_000_000n);
  t.equal(parseRfc3339('1970-01-01T01:00:00+01:00'), 0n);
  t.equal(parseMilliseconds('1786613174873'), 1_786_613_174_873_000_000n);
  t.equal(parseMicroseconds('1791357997711238'), 1_791_357_997_711_238_000n);
  t.equal(parseRfc3339('2026-09-24'), 1_790_208_000_000_000_000n, 'a date is its first instant in UTC');
  const wrong = '|2026-8-12|2026-08-12T19:29:00|yesterday|2026-13-01|2026-02-29|2026-08-12T24:00:00Z'.split(
    '|',
  );
  for (const text of [...wrong, 1]) t.equal(parseRfc3339(text), 'unreadable', String(text));
  t.equal(parseMilliseconds('1786613174'), 'unreadable', 'seconds');
  t.equal(parseMicroseconds('1786613174873'), 'unreadable', 'milliseconds');
  for (const parse of [parseRfc3339, parseAnyTime, parseMilliseconds, parseMicroseconds]) {
    t.equal(parse(undefined), undefined);
    t.equal(parse(null), undefined);
  }
});

test('days are those of the calendar', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8_000_000_000_000 }), (ms) => {
      return parseRfc3339(new Date(ms).toISOString()) === BigInt(ms) * 1_000_000n;
    }),
  );
  t.pass();
});
