import fc from 'fast-check';
import { test } from 'tap';
import { PRICE_MAX } from '../../src/model/price.js';
import { parseBestDigits, parseDigits, parseJsonDigits } from '../../src/sources/digits.js';

test('digits are exact to 10^18, with exponents and zeros at both ends', async (t) => {
  for (const [text, value] of [
    ['0.00000000', 0n],
    ['62807', 62_807n * 10n ** 18n],
    ['00062807.10', 628_071n * 10n ** 17n],
    ['5.1e-05', 51n * 10n ** 12n],
    ['1E+3', 10n ** 21n],
    ['0.0000000000000000019', 1n],
    ['0.0000000000000000009', 0n],
    ['-1e-7', -(10n ** 11n)],
    ['-0.0', 0n],
  ] as const)
    t.equal(parseDigits(text), value, text);
  for (const text of ',--1,+1,.5,5.,1e,1e999,NaN,Infinity,1_0, 1,1 ,0x1'.split(','))
    t.equal(parseDigits(text), undefined, JSON.stringify(text));
  t.equal(parseDigits(`${PRICE_MAX / 10n ** 18n + 1n}`), undefined, 'more than 16 bytes');
});

test('the shortest text of a double is read digit for digit', async (t) => {
  fc.assert(
    fc.property(fc.double({ min: 1e-12, max: 1e15, noNaN: true }), (double) => {
      const value = parseDigits(String(double))!;
      const exact = parseDigits(double.toFixed(18))!;
      const difference = value > exact ? value - exact : exact - value;
      // 17 digits identify a double. The shortest text of a double may differ from its exact value by half a unit in the last
      // digit.
      return difference * 10n ** 15n <= exact + 10n ** 15n;
    }),
  );
  t.pass();
});

test('JSON keeps the digits of numbers, and strings as they are', async (t) => {
  t.same(
    parseJsonDigits('{"a":62807.0,"b":[0.00000000,-1e-08],"id":15113583034416118705,"t":true,"n":null}'),
    { a: '62807.0', b: ['0.00000000', '-1e-08'], id: '15113583034416118705', t: true, n: null },
  );
  t.same(parseJsonDigits('{"1\\"2":"a 1.5 \\\\","b":"\\u00412"}'), { '1"2': 'a 1.5 \\', b: 'A2' });
  for (const text of ['', '{', '{"a":1', '"abc', '{"a":"\\', 'pong', '{"a":1,}', '[1 2]'])
    t.throws(() => parseJsonDigits(text), SyntaxError, text);
});

test('the best prices of a frame keep their digits, also beside strings that look like them', async (t) => {
  const bestOf = (frame: unknown) => {
    const { bid, ask, note } = frame as Record<string, unknown>;
    return [bid, ask, note];
  };
  const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.bigInt());
  const note = fc.oneof(fc.string(), fc.constant('x"bid":1.50,"ask":2'), fc.constant('\\"bid":3'));
  fc.assert(
    fc.property(number, number, note, fc.constantFrom('', ' '), (bid, ask, text, space) => {
      const frame = `{"bid":${space}${bid},"note":${JSON.stringify(text)},"ask"${space}:${ask},"last":1.50}`;
      t.strictSame(bestOf(parseBestDigits(frame)), bestOf(parseJsonDigits(frame)), frame);
    }),
  );
  t.same(parseBestDigits('{"bid":62807.0,"ask":0.0,"last":1.50}'), { bid: '62807.0', ask: '0.0', last: 1.5 });
});
