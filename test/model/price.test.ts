import fc from 'fast-check';
import { test } from 'tap';
import {
  PRICE_MAX,
  PRICE_MIN,
  type Price,
  parsePrice,
  readPrice,
  writePrice,
} from '../../src/model/price.js';
import { PRICE_BYTES } from '../../src/wire/quantized_price.js';

const price = fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }).map((value) => value as Price);

test("the range is that of 16 two's-complement bytes", async (t) => {
  t.equal(parsePrice('170141183460469231731687303715884105727'), 2n ** 127n - 1n);
  t.equal(parsePrice('170141183460469231731687303715884105728'), undefined);
  t.equal(parsePrice('-170141183460469231731687303715884105728'), -(2n ** 127n));
  t.equal(parsePrice('-170141183460469231731687303715884105729'), undefined);
  t.equal(parsePrice('999999999999999999999999999999999999999'), undefined);
  t.equal(parsePrice('9'.repeat(1_000_000)), undefined);
});

test('every price is the same after its text and its 16 bytes', async () => {
  const bytes = Buffer.alloc(PRICE_BYTES + 3, 0xaa);
  fc.assert(
    fc.property(price, fc.nat(3), (value, offset) => {
      bytes.fill(0xaa);
      writePrice(value, bytes, offset);
      const slow = BigInt.asUintN(128, value).toString(16).padStart(32, '0');
      return (
        parsePrice(String(value)) === value &&
        readPrice(bytes, offset) === value &&
        bytes.subarray(offset, offset + PRICE_BYTES).toString('hex') === slow &&
        bytes.subarray(0, offset).every((byte) => byte === 0xaa) &&
        bytes.subarray(offset + PRICE_BYTES).every((byte) => byte === 0xaa)
      );
    }),
  );
});

test('a text is a price exactly when a slow parser says so', async () => {
  const digits = fc.stringMatching(/^[-+ 0-9.ex]{0,42}$/);
  fc.assert(
    fc.property(fc.oneof(digits, fc.stringMatching(/^-?[0-9]{36,41}$/)), (text) => {
      const isPlain = /^-?[0-9]+$/.test(text) && !/^-?0[0-9]/.test(text) && text !== '-0';
      const value = isPlain ? BigInt(text) : undefined;
      const inRange = value !== undefined && value >= PRICE_MIN && value <= PRICE_MAX;
      return parsePrice(text) === (inRange ? value : undefined);
    }),
    {
      numRuns: 500,
      examples: ['-0', '0', '-00', '-01', '', '-', '1n', '1_0', '0b1', '1\n', '--1', '١', 'NaN'].map(
        (text) => [text],
      ),
    },
  );
});
