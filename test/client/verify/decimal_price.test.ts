import fc from 'fast-check';
import { test } from 'tap';
import { formatDecimalPrice, parseDecimalPrice } from '../../../src/client/verify/decimal_price.js';
import { PRICE_MAX, PRICE_MIN } from '../../../src/model/price.js';

test('a real price is read exactly', async (t) => {
  t.equal(parseDecimalPrice('65000.5'), 65000500000000000000000n);
  t.equal(parseDecimalPrice('0.000000000000000001'), 1n);
  t.equal(parseDecimalPrice('170141183460469231731.687303715884105727'), PRICE_MAX);
  t.equal(parseDecimalPrice('170141183460469231731.687303715884105728'), undefined);
  t.equal(parseDecimalPrice('1e-7'), 10n ** 11n);
  t.equal(parseDecimalPrice('-3.770E+1'), -377n * 10n ** 17n);
  t.equal(parseDecimalPrice(`0.5${'0'.repeat(39)}`), 5n * 10n ** 17n, '40 decimals');
  for (const text of [
    `0.5${'0'.repeat(38)}1`,
    '1e-19',
    '',
    '1.',
    '.5',
    '+1',
    ' 1',
    '-0',
    '0x10',
    '1,5',
    'NaN',
  ])
    t.equal(parseDecimalPrice(text), undefined, text);
});

test('writing a price and reading it gives the price', async () => {
  const price = fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX });
  fc.assert(fc.property(price, (value) => parseDecimalPrice(formatDecimalPrice(value)) === value));
});
