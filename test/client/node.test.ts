import fc from 'fast-check';
import { test } from 'tap';
import * as portable from '../../src/client/index.js';
import * as node from '../../src/client/node.js';
import { PRICE_MAX, PRICE_MIN } from '../../src/model/price.js';
import { cases } from '../tier.js';

// Tests of the signatures that Node's client makes with the service's curves. @noble and @scure are the reference.

const MESSAGES = cases(500);

const symbol = fc.oneof(
  fc.stringMatching(/^[A-Z0-9_.]{1,26}$/),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
);
const asciiSymbol = fc.stringMatching(/^[ -~]{1,16}$/);
const timestampNs = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const secretKey = fc
  .bigInt({ min: 1n, max: 2n ** 250n })
  .map((value) => portable.parseSecretKey(value.toString(16))!);

test('EVM prices are signed as the portable client signs them', async (t) => {
  signsTheSame(t, 'evm', symbol, fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }));
});

test('Stark prices are signed as the portable client signs them', async (t) => {
  signsTheSame(t, 'stark', asciiSymbol, fc.bigInt({ min: 0n, max: PRICE_MAX }));
});

function signsTheSame(
  t: { comment(text: string): void },
  signatureType: 'evm' | 'stark',
  symbols: fc.Arbitrary<string>,
  prices: fc.Arbitrary<bigint>,
): void {
  const fields = { symbol: symbols, price: prices, timestampNs, secretKey };
  const property = fc.property(fc.record(fields), ({ secretKey, ...price }) => {
    const options = { signatureType, secretKey, oracleId: 'tests' };
    const signed = node.createPriceSigner(options).sign(price);
    const expected = portable.createPriceSigner(options).sign(price);
    return node.writeExactJson(signed) === portable.writeExactJson(expected);
  });
  fc.assert(property, { numRuns: MESSAGES });
  t.comment(`${MESSAGES} ${signatureType} messages`);
}

test('the two export the same names', async (t) => {
  t.same(Object.keys(node).sort(), Object.keys(portable).sort());
});
